# Everything runs inside .venv, which the first target that needs it creates. `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
PRESET ?= quick
SOAK_SECONDS ?= 600
# On Linux PyPI's torch comes with several GB of CUDA that nothing here uses; a CPU-only index avoids them:
#   make bench TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The directory of a run. Without it `make bench` starts a new one, and `make figures` and `make report` take the newest;
# with it `make bench` completes the run that the directory holds, or starts it there.
RESULTS ?=
HARNESS := $(BIN)/python -m harness

.PHONY: help install bench bench-kernel kernel-claims figures report test check style format soak clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 15
	@echo
	@echo 'bench: PRESET=smoke|quick|paper (now $(PRESET)); bench, figures, report: RESULTS=directory'
	@echo 'bench-kernel: COMPARE=0001 picks the saved run; .benchmarks/ holds them'
	@echo 'first use: PYTHON=python3.12 picks the interpreter, TORCH_INDEX=URL an index with CPU-only torch'

install: $(STAMP)  ## create .venv and install everything into it

bench: $(STAMP)  ## run the preset, draw its figures and print the comparison table
	@status=0; $(HARNESS) run --preset $(PRESET) $(if $(RESULTS),--output $(RESULTS)) \
	  $(if $(wildcard $(RESULTS)/measurements.csv),--resume) || status=$$?; \
	if [ $$status -gt 1 ]; then exit $$status; fi; \
	$(HARNESS) plot $(RESULTS) && $(HARNESS) report $(RESULTS) && exit $$status

bench-kernel: $(STAMP)  ## benchmark the kernel by itself, beside the run saved last
	$(BIN)/python -m pytest benchmarks/kernel --benchmark-autosave --benchmark-columns=min,median,iqr,rounds \
	  $(if $(wildcard .benchmarks/*/*.json),--benchmark-compare$(if $(COMPARE),=$(COMPARE)))

kernel-claims: $(STAMP)  ## measure what the kernel claims, each line with its limit and a verdict
	$(BIN)/python -m benchmarks.kernel_claims

figures: $(STAMP)  ## draw the figures of the newest run again
	$(HARNESS) plot $(RESULTS)

report: $(STAMP)  ## print the comparison table of the newest run
	$(HARNESS) report $(RESULTS)

test: $(STAMP)  ## run the tests
	$(BIN)/python -m pytest

check: style test  ## format check, lint, types and tests

style: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)  ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

soak: $(STAMP)  ## repeat for SOAK_SECONDS (600) in search of leaks and rare races
	SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/python -m pytest -m soak --timeout=0

clean:  ## remove .venv and the caches; results stay
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis reactorlib.egg-info

# The stamp is younger than the two files that say what to install, so nothing is installed twice.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) -V 2>&1 | tail -n 1); try: make PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --constraint constraints.txt $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) --editable '.[bench,dev]'
	@touch $@

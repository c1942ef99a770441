# Two commands matter: `make run` and `make test`. Both set everything up first, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := plot,cli,scale,io,dev
READY := $(VENV)/.ready

.PHONY: run test test-all test-browser lint types layers tests doctests setup format lock bench bench-cold clean

run: $(READY)  ## the main job on a bundled table
	$(BIN)/novum run

test: lint types layers tests doctests  ## every check that guards a change

test-browser: $(READY)  ## the report in a real browser, which is installed first
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q chromium; }
	$(BIN)/pytest -q -m browser

test-all: test test-browser  ## and the slow extras, before an issue is closed
	$(BIN)/pytest -q -n 2 -m slow

setup: $(READY)

# Debian ships `python3 -m venv` in a package of its own; without it pip cannot be bootstrapped.
$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "python3 -m venv does not work here; installing Debian's python3-venv"; \
	  apt-get update -q && apt-get install -y -q python3-venv && $(PYTHON) -m venv $(VENV); }
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install -q --disable-pip-version-check -e ".[$(EXTRAS)]"
	@touch $@

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

tests: $(READY)
	$(BIN)/pytest -q -n 2 -m "not slow"

doctests: $(READY)
	$(BIN)/pytest -q --doctest-modules src/novum benchmarks
	$(BIN)/pytest -q --doctest-glob="*.md" README.md docs

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY)  ## exact versions of all that the checks use, and of what builds the package
	$(BIN)/pip install -q hatchling editables
	$(BIN)/pip freeze --exclude-editable | sort -f > constraints.txt

# Speed is measured in an environment of its own, which holds the rivals.
BENCH ?= core numerics linear
ARGS ?=
BENCH_PYTHON := .venv-bench/bin/python

bench:  ## Novum and the rivals in one run; BENCH="trees linear" or BENCH=all, ARGS=--quick
	$(PYTHON) benchmarks/environment.py $(BENCH)
	$(BENCH_PYTHON) -m benchmarks.startup
	$(BENCH_PYTHON) -m benchmarks $(filter-out all torch,$(BENCH)) $(ARGS)

bench-cold:  ## first calls on a machine that has compiled nothing yet
	$(PYTHON) benchmarks/environment.py core
	$(BENCH_PYTHON) -m benchmarks.startup --cold $(ARGS)

clean:
	rm -rf $(VENV) .venv-bench

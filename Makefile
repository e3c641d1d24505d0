# Two commands matter: `make demo` (install, audit, report) and `make test` (install, check everything).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# One cache of compiled kernels for all test workers.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.numba-cache
# Modules are kept compiled, whatever the environment says: tests start many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint style types pytest docs bench fuzz stress conformance studies chromium java postgres clean

help: ## Show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.user ## Install, audit the embedded population, write report.html
	$(BIN)/reidrisk demo --out report.html
	@echo "Next: source $(BIN)/activate; then: reidrisk audit YOUR.csv --out report.html"

test: $(VENV)/.developer chromium java postgres style ## Install with development tools, run every check and test
	@$(MAKE) --no-print-directory --jobs=2 types pytest

lint: style types ## Format, lint, layers, types

style: $(VENV)/.developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

# One process for half a minute: `make test` has a core for it while the tests begin.
types: $(VENV)/.developer
	$(BIN)/mypy

pytest: $(VENV)/.developer
	$(BIN)/python -m pytest -n 2

docs: $(VENV)/.developer ## Build the documentation into site/
	$(BIN)/zensical build --clean --strict

bench: $(VENV)/.developer ## Run the benchmarks beside what a user would use instead, scaled down (half an hour); BENCH=--full for the published sizes
	$(BIN)/python benchmarks $(BENCH)

fuzz: $(VENV)/.developer ## Damage files in ten thousand ways and feed them to every reader and command (about a minute)
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

stress: $(VENV)/.developer java postgres ## Kill, interrupt and starve commands of disk space again and again (a few minutes)
	$(BIN)/python -m pytest -n 2 -m "stress or slow"

conformance: $(VENV)/.developer $(VENV)/outside/.installed ## Compare with packages that pin other versions, in an environment of their own
	REIDRISK_OUTSIDE=$(abspath $(VENV))/outside/bin/python $(BIN)/python -m pytest tests/conformance

studies: $(VENV)/.studies ## Run the published experiments again, scaled down, into studies-out/ (about 35 minutes)
	@failed=""; \
	run() { echo "== $$*"; $(BIN)/reidrisk study run "$$@" --skip-missing --out studies-out || failed="$$failed $$1"; }; \
	run carey-fig2 --users 500000; \
	run carey-fig4 carey-information --users 300000; \
	run jha-fig2 jha-fig3 jha-fig4 jha-fig5 jha-fig6 jha-fig7 jha-fig8 jha-fig9 jha-fig10 jha-fig11 jha-fig12 \
	  jha-bayes jha-calibration jha-improvements jha-limits; \
	run carey-ceiling jha-ceiling; \
	run carey-sequence --users 10000; \
	run floc-thresholds floc-chrome floc-weeks floc-private; \
	run dick-fig1 dick-fig3 dick-fig5 dick-fig6 dick-fig8; \
	run galozy-fig1 galozy-fig5 galozy-fig6 galozy-fig7 galozy-fig8 galozy-fig9 galozy-fig10 galozy-fig11 galozy-weights; \
	echo "== not with all of its data, or left out:"; $(BIN)/reidrisk study list --missing; \
	if [ -n "$$failed" ]; then echo "== failed, in the run that begins with:$$failed"; exit 1; fi

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable ".[report]"
	@touch $@

$(VENV)/.studies: pyproject.toml studies/pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable ".[report,bandits,release,serve]" --editable ./studies
	@touch $@ $(VENV)/.user

# Bytecode is made when a module is first imported: most of ten thousand never are.
$(VENV)/.developer: pyproject.toml studies/pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --no-compile --editable ".[report,dev]" --editable ./studies
	@touch $@ $(VENV)/.user $(VENV)/.studies

$(VENV)/outside/.installed: tests/conformance/outside/requirements.txt | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)/outside
	$(VENV)/outside/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

chromium: ## Install Debian's Chromium for the report test, where that is allowed
	@command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 \
	  || command -v google-chrome >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && { echo "installing Chromium for the report test"; \
	            apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }; } \
	  || echo "Chromium is not installed and may not be installed here: the report test will be skipped"

java: $(VENV)/.developer ## Install Java for the Spark tests, where that is allowed, and Spark where there is Java
	@command -v java >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && { echo "installing Java for the Spark tests"; \
	            apt-get update -qq && apt-get install -y -qq default-jre-headless >/dev/null; }; } \
	  || echo "Java is not installed and may not be installed here: the Spark tests will be skipped"
	@! command -v java >/dev/null 2>&1 || $(BIN)/python -c "import pyspark" 2>/dev/null || $(PIP) --no-compile pyspark

postgres: ## Install PostgreSQL for the tests of the sharing service, where that is allowed
	@command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && { echo "installing PostgreSQL for the tests of the sharing service"; \
	            apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; }; } \
	  || echo "PostgreSQL is not installed and may not be installed here: its tests will be skipped"

clean: ## Remove everything that was made
	rm -rf $(VENV) .numba-cache site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis report.html studies-out fuzz-failures

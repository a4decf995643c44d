# The verbs of this repository; a bare `make` lists them.
# Nothing but Python 3.11 or newer is needed beforehand: every verb makes the environment that it uses.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
ROOM   ?= all
FOLDER ?= demo-out

# The theme announces a fork of mkdocs at every build.
export NO_MKDOCS_2_WARNING := 1

BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
ROOMS  := noise accounting mechanisms
COVER  := $(ROOMS:%=--cov=sordino.%) --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=98
# A test that hangs fails by itself, and says where, long before anybody loses patience.
QUICK  := -n $(JOBS) -m "not long" --timeout 400
LOWER  := $(ROOMS:%=tests/%) tests/laws/test_laws_catch.py

.DEFAULT_GOAL := help
.PHONY: help demo serve test test-long audit bench docs lint clean

help:  ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml scripts/make-environment
	@scripts/make-environment "$(PYTHON)" "$(VENV)"
	@touch $@

demo: $(STAMP)  ## six private answers, a refusal, a ledger that verifies, a report with plots in demo-out/
	@rm -rf demo-out
	@$(BIN)/sordino demo demo-out

serve: $(STAMP)  ## the service and its dashboard on loopback, with an owner's token; FOLDER=… or the demo's folder
	@[ -e "$(FOLDER)/sordino.yaml" ] || $(BIN)/sordino demo "$(FOLDER)"
	@$(BIN)/sordino serve --directory "$(FOLDER)" --owner-token

test: lint  ## lint, then every quick test, with coverage of the lower rooms at 98 % or more
	@scripts/install-servers
	@$(BIN)/python -m pytest $(QUICK) $(LOWER) $(COVER)
	@$(BIN)/python -m pytest $(QUICK) tests $(LOWER:%=--ignore=%)

test-long: $(STAMP)  ## the tests that take minutes
	@scripts/install-servers
	@$(BIN)/python -m pytest -n $(JOBS) -m long

audit: $(STAMP)  ## judge every mechanism, accountant, training and service of the house, and what must be caught, at length
	@$(BIN)/python -m pytest -n $(JOBS) tests/laws tests/audit -m ""

bench: $(STAMP)  ## side by side with peers in one run; ROOM=noise, accounting, mechanisms, query, query_error, ledger, serve, audit, audit_training, audit_peers or all
	@$(BIN)/python bench/run.py --room $(ROOM)

docs: $(STAMP)  ## build the documentation into site/, warnings as errors
	@$(BIN)/python -m mkdocs build --strict --quiet

lint: $(STAMP)  ## ruff, mypy and the layer contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

clean:  ## remove everything that the other verbs made
	rm -rf $(VENV) .venvs bench/out demo-out site build dist src/sordino.egg-info .coverage
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

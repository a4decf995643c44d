# The verbs of this repository; a bare `make` lists them.
# Nothing but Python 3.11 or newer is needed beforehand: every verb makes the environment that it uses.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
ROOM   ?= all
FOLDER ?= demo-out

# The theme announces a fork of mkdocs at every build.
export NO_MKDOCS_2_WARNING := 1
# Modules are compiled when they are first imported. Were that not kept, every worker and every process that a test starts
# would compile all of them again.
unexport PYTHONDONTWRITEBYTECODE

BIN    := $(VENV)/bin
# One environment, filled as far as a verb needs it: to run, to serve, to check, or with Spark and all else that tests want.
RUNS   := $(VENV)/.installed-plot
SERVES := $(VENV)/.installed-plot,serve
CHECKS := $(VENV)/.installed-check
STAMP  := $(VENV)/.installed-test
ROOMS  := noise accounting mechanisms
COVER  := $(ROOMS:%=--cov=sordino.%) --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=98
# A test that hangs fails by itself, and says where, long before anybody loses patience.
# Each worker has one thread: more of them would only wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --timeout 400
NOBODY := not long and not slow and not postgres and not spark and not browser and not service and not flower
LOWER  := $(ROOMS:%=tests/%) tests/laws/test_laws_catch.py tests/laws/test_shuffled.py tests/test_works.py

.DEFAULT_GOAL := help
.PHONY: help demo serve quick test test-long audit bench docs lint lint-ruff lint-mypy lint-layers changelog release clean

help:  ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/.installed-%: pyproject.toml scripts/make-environment
	@scripts/make-environment "$(PYTHON)" "$(VENV)" "$*"
	@touch "$@"
	@[ "$*" != test ] || touch "$(RUNS)" "$(SERVES)" "$(CHECKS)"

demo: $(RUNS)  ## six private answers, a refusal, a ledger that verifies, a report with plots in demo-out/
	@rm -rf demo-out
	@$(BIN)/sordino demo demo-out

serve: $(SERVES)  ## the service and its dashboard on loopback, with an owner's token; FOLDER=… or the demo's folder
	@[ -e "$(FOLDER)/sordino.yaml" ] || $(BIN)/sordino demo "$(FOLDER)"
	@$(BIN)/sordino serve --directory "$(FOLDER)" --owner-token

quick: lint  ## lint, then what takes no server and less than three minutes: before each commit
	@$(PYTEST) -m "$(NOBODY)"

test: $(STAMP) lint  ## lint, then every test that does not take minutes, with coverage of the lower rooms at 98 % or more
	@scripts/install-servers
	@$(PYTEST) -m "not long" $(LOWER) $(COVER)
	@$(PYTEST) -m "not long" tests $(LOWER:%=--ignore=%)

test-long: $(STAMP)  ## the tests that take minutes, and examples that nobody has seen before for all that are by example
	@scripts/install-servers
	@$(BIN)/python -m pytest -n $(JOBS) -m "long or hypothesis" --hypothesis-profile search

audit: $(CHECKS)  ## judge every mechanism, accountant, training and service of the house, and what must be caught, at length
	@$(BIN)/python -m pytest -n $(JOBS) tests/laws tests/audit -m ""

bench: $(STAMP)  ## side by side with peers in one run; ROOM=all, collect, publish, or one room: noise, accounting, mechanisms, query, query_error, ledger, serve, audit, audit_hidden, audit_training, audit_peers, learn, learn_estimators, learn_federation, learn_accuracy, learn_teachers, collect_local, collect_kept, collect_spark, collect_words, collect_numbers, collect_shuffle, collect_prio3, collect_streams, collect_alerts, collect_intake, publish_mobility, publish_tables, publish_workloads, publish_graphs, publish_genomes, publish_hierarchy, publish_prices
	@$(BIN)/python bench/run.py --room $(ROOM)

docs: $(CHECKS)  ## build the documentation into site/, warnings as errors
	@$(BIN)/python -m mkdocs build --strict --quiet

changelog: $(CHECKS)  ## move the fragments of changelog.d under the heading VERSION=… of the changelog
	@$(BIN)/python scripts/collect_changelog.py "$(VERSION)"

release: $(VENV)/.installed-release  ## build wheel and sdist into dist/, check both, and try the wheel in an environment of its own
	@scripts/build-release "$(PYTHON)" "$(BIN)"

lint: $(CHECKS)  ## ruff, mypy and the layer contract, side by side
	@$(MAKE) --no-print-directory --jobs=$(JOBS) --output-sync lint-mypy lint-layers lint-ruff

lint-mypy: $(CHECKS)
	@$(BIN)/mypy

lint-layers: $(CHECKS)
	@$(BIN)/lint-imports --no-logo

lint-ruff: $(CHECKS)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

clean:  ## remove everything that the other verbs made
	rm -rf $(VENV) .venvs bench/out demo-out site build dist src/sordino.egg-info .coverage
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# pgclaim: `make test` is the whole check; `make help` lists the rest.

PY := .venv/bin/python
TESTS ?= tests
JOBS ?= 3
ARGS ?=
PG ?= embedded

PYTHON_CODE := python/src tests
TYPED_CODE := $(wildcard tests/tools tests/service)

say = @printf '\n== %s\n' '$(1)'

.PHONY: help setup test lint format pgtap plpgsql-check pytest psql demo bench clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-14s %s\n' "$$name" "$$text"; done

setup: .venv/.ready ## system packages that are missing, and .venv with the package and the tools

.venv/.ready: tests/requirements.txt tests/tools/setup.sh python/pyproject.toml
	$(call say,setup: system packages and .venv)
	@bash tests/tools/setup.sh

test: setup ## lint and pytest, on both servers
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory pgtap
	@$(MAKE) --no-print-directory plpgsql-check
	@$(MAKE) --no-print-directory pytest

lint: setup ## ruff, mypy and sqlfluff
	$(call say,lint: ruff)
	@.venv/bin/ruff format --check $(PYTHON_CODE)
	@.venv/bin/ruff check $(PYTHON_CODE)
	$(call say,lint: mypy)
	@.venv/bin/mypy python/src $(TYPED_CODE)
	$(call say,lint: sqlfluff)
	@.venv/bin/sqlfluff lint --processes 2 --disable-progress-bar sql

format: setup ## let ruff and sqlfluff mend what they can
	@.venv/bin/ruff check --fix $(PYTHON_CODE)
	@.venv/bin/ruff format $(PYTHON_CODE)
	@.venv/bin/sqlfluff fix --processes 2 --disable-progress-bar sql

pgtap: setup ## the SQL tests under pgtap/ (TESTS=pgtap/work runs a part)
	$(call say,pgtap: one session, everything rolled back)
	@$(PY) -m tests.tools.pgtap $(filter pgtap%,$(TESTS))

plpgsql-check: setup ## static check of every function body
	$(call say,plpgsql-check: every function body)
	@$(PY) -m tests.tools.plpgsql_check

pytest: setup ## the tests under tests/ (TESTS=tests/sql/test_x.py ARGS="--pg debian -k name")
	$(call say,pytest: several sessions)
	@$(PY) -m pytest -n $(JOBS) $(ARGS) $(TESTS)

psql: setup ## a console on a fresh server with the schema installed (PG=debian for the other one)
	@$(PY) -m tests.tools.console $(PG)

demo: setup ## a short tour
	$(call say,demo)
	@$(PY) -m tests.demo $(ARGS)

bench: setup ## figures of this machine
	$(call say,bench)
	@$(PY) -m tests.bench $(ARGS)

clean: ## remove .venv and every cache
	rm -rf .venv python/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

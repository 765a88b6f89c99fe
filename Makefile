# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Both install what is missing (Debian packages only as root).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
DEMO ?= scenarios/sre/checkout-wrong-payment-address
DEMO_AGENT ?= solution

.PHONY: help demo test setup lint types layers unit e2e format golden bench lock clean

help:  ## Say what there is to do
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: setup  ## Install what is missing, live one real scenario, print the score and where the record is
	$(BIN)/itbc run $(DEMO) --agent $(DEMO_AGENT)

test: setup lint types layers unit e2e  ## Everything CI runs

setup: $(STAMP)  ## Install what is missing: Python packages, Debian packages, Go, Terraform, the Kubernetes program
	$(BIN)/python -m itbc.stacks.toolchain setup --yes

$(STAMP): requirements.txt pyproject.toml
	PYTHON=$(PYTHON) ./bootstrap
	touch $@

lint: $(STAMP)  ## ruff: lint and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)  ## mypy strict and pyright strict
	$(BIN)/mypy src bench
	$(BIN)/pyright

layers: $(STAMP)  ## import-linter: who may import whom
	$(BIN)/lint-imports --no-logo

unit: $(STAMP)  ## Tests that need no cluster
	$(BIN)/pytest -m "not e2e"

e2e: setup  ## Tests on the real embedded cluster (root)
	$(BIN)/pytest -m e2e --durations=25

bench: setup  ## Measure on this machine (three whole runs, five minutes), print a table; BENCH_JSON=FILE keeps it
	$(BIN)/python -m bench $(if $(BENCH_JSON),--json $(BENCH_JSON))

format: $(STAMP)  ## Rewrite Python files in the one layout
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

golden: $(STAMP)  ## Write the golden files anew; read the diff before you commit it
	$(BIN)/pytest -m "not e2e" --update-golden

lock:  ## Pin every Python package anew, with hashes
	$(BIN)/uv pip compile --quiet --python-version 3.11 --group dev --generate-hashes --no-header -o requirements.txt pyproject.toml

clean:  ## Remove the virtual environment and build leftovers (caches outside the tree stay)
	rm -rf .venv build dist *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

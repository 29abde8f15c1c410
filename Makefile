# Needs Python 3.11 or newer (with pip and venv) and make. Everything else is set up in .venv.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

# The oldest version that is supported comes first: what works there works everywhere.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.run-stamp
DEV := $(VENV)/.dev-stamp
# pip's progress is for people.
QUIET := $(shell test -t 2 || echo --quiet)
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install $(QUIET) \
	--no-deps --only-binary :all: --require-hashes
# A week's delay: a stolen release is mostly found out within days.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --exclude-newer "1 week"

.PHONY: help run test proof proof-tools check fmt bench chaos money calls pages docs judge vendors
.PHONY: record lock clean transcripts held

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(RUN) ## Start Tillhouse with a demo business (ARGS="--port 9000")
	@exec $(BIN)/tillhouse serve --demo $(ARGS)

# Tests start processes by the hundred: without kept bytecode each would compile the package anew.
test proof: export PYTHONDONTWRITEBYTECODE :=
test: $(DEV) ## Run the tests (ARGS="-k name")
	@$(BIN)/python -m tests.run test $(ARGS)

proof: $(DEV) ## Run the tests that take long, by parts (ARGS="cli system")
	@$(BIN)/python -m tests.run proof $(ARGS)

proof-tools: $(DEV) ## Install what make proof needs of others (as root, on Debian)
	@$(BIN)/python -m tests.tools

check: $(DEV) ## Check format, lint, import order and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/basedpyright

fmt: $(DEV) ## Format, and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(DEV) ## Measure (ARGS="webhooks --backlog 100000")
	@$(BIN)/python -m bench $(ARGS)

chaos: $(DEV) ## Kill everything at random and look what was lost (ARGS="--kills 200")
	@$(BIN)/python -m tests.system.chaos $(ARGS)

money: $(DEV) ## Walk through all that moves money, with crashes (ARGS="--walks 500 --seed 7")
	@$(BIN)/python -m tests.money $(ARGS)

held: $(DEV) ## Send each route the dearest bodies, print which held the loop longest
	@$(BIN)/python -m tests.routes $(ARGS)

calls: $(DEV) ## Make simulated calls in virtual time, by every rule (ARGS="--calls 1000")
	@$(BIN)/python -m tests.voice $(ARGS)

transcripts: $(DEV) ## Hold transcripts of generated calls against their sound (ARGS="--calls 200")
	@$(BIN)/python -m tests.voice.speech $(ARGS)

pages: $(DEV) ## Judge the pages at /docs in Chromium with axe (ARGS="--shots folder")
	@$(BIN)/python -m tests.browser $(ARGS)

docs: $(DEV) ## Write the generated files anew: OpenAPI document, docs/sql
	@$(BIN)/python -m statements
	@$(BIN)/python -m story document

judge: $(DEV) ## Generate clients from the OpenAPI document and run them (needs node)
	@$(BIN)/python -m judges

record: $(DEV) ## Play the story and record the answers (ARGS="--source ../other/src")
	@$(BIN)/python -m story record $(ARGS)

vendors: $(DEV) ## Judge the payment simulators by the vendors' own clients (ARGS="--papers folder")
	@$(BIN)/python -m judges.vendors $(ARGS)

lock: $(DEV) ## Lock the newest versions of what requirements/*.in names
	@cd requirements && ../$(COMPILE) --upgrade run.in --output-file run.txt
	@cd requirements && ../$(COMPILE) --upgrade dev.in --output-file dev.txt
	@cd requirements && ../$(COMPILE) --upgrade proof.in --output-file proof.txt

clean: ## Remove .venv and caches (not your data)
	@rm -rf $(VENV) build dist .ruff_cache .pytest_cache .hypothesis .schemathesis \
		.import_linter_cache .coverage .coverage.* htmlcov
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The package runs from src; a path file and a small script spare every set-up a build.
$(RUN): requirements/run.txt Makefile
	@test -n "$(PYTHON)" || { echo "Tillhouse needs Python 3.11 or newer." >&2; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON) ..." >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements/run.txt
	@echo ../../../../src > "$$($(BIN)/python -c \
		'import sysconfig; print(sysconfig.get_path("purelib"))')/tillhouse.pth"
	@printf '%s\n' '#!/bin/sh' \
		'exec "$${0%/*}/python" -P -c "import sys; sys.argv[0] = \"tillhouse\"' \
		'from tillhouse.cli import main' \
		'sys.exit(main())" "$$@"' > $(BIN)/tillhouse
	@chmod +x $(BIN)/tillhouse
	@touch $@

$(DEV): requirements/dev.txt $(RUN)
	@echo "Adding the tools for tests and checks ..." >&2
	@$(INSTALL) -r requirements/dev.txt
	@touch $@

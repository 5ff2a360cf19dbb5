# Two commands do it all: `make demo` and `make test`. Both set up .venv first, and are quick when run again.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
READY_DOCS := $(VENV)/.ready-docs
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-notebooks test-course test-browser check lab soak bench docs notebooks constraints clean

help:  ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

demo: $(READY)  ## run the main job on Python's own library, offline
	@$(BIN)/agentlab demo
	@echo 'next: ". $(BIN)/activate", then "agentlab chat" or "agentlab --help"; or "make lab"'

lab: $(READY)  ## start JupyterLab on the notebooks
	@$(BIN)/agentlab lab

test: $(READY_DEV)  ## run the test suite and the notebooks
	@$(BIN)/python -m pytest -q
	@$(MAKE) --no-print-directory test-notebooks

test-notebooks: $(READY_DEV)  ## run the notebooks alone, and compare what they print
	@$(BIN)/python -m pytest -q --nbval-lax --nbval-cell-timeout=60 notebooks exercises/solution

test-course: $(READY_DEV)  ## grade all known answers to the exercises, in our grader and in nbgrader; COURSE=quick gives that one fewer
	@$(BIN)/python -m tests.course || echo 'nbgrader takes no part'
	@$(BIN)/python -m pytest -q -rs tests/course/check_graders.py

test-browser: $(READY_DEV)  ## drive JupyterLab in Chromium; skipped where there is none
	@$(BIN)/python -m pytest -q -rs tests/browser/check_*.py

check: $(READY_DEV)  ## ruff, mypy, layers, doctests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest -q --doctest-modules agentlab

soak: $(READY_DEV)  ## kill writers of sessions and logs a hundred times each, and read what is left
	@AGENTLAB_KILLS=100 $(BIN)/python -m pytest -q tests/test_transcript.py tests/test_harness_log.py -k kill

bench: $(READY_DEV)  ## time the loop, the cuts and the imports; PEERS=llm,smolagents adds others
	@$(BIN)/python -m tests.benchmarks

docs: $(READY_DOCS)  ## build the site into build/docs/html, and check its links
	@$(BIN)/python docs/build.py

notebooks: $(READY_DEV)  ## run the notebooks again and keep their outputs
	@$(BIN)/python notebooks/source/build.py

constraints: $(READY_DEV) $(READY_DOCS)  ## pin what is installed now
	@$(BIN)/python -m pip --disable-pip-version-check freeze --exclude-editable | grep -E '^[A-Za-z0-9_.-]+==' > constraints.txt

$(BIN)/python:
	@echo "making $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "agentlab needs Python 3.11 or newer, and this is %d.%d: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV)

$(READY): $(BIN)/python pyproject.toml constraints.txt
	@echo "installing agentlab (once; some minutes the first time)"
	@$(PIP) --editable .
	@touch $@

$(READY_DEV): $(READY)
	@echo "installing what the tests need (once)"
	@$(PIP) --editable '.[dev]'
	@touch $@

$(READY_DOCS): $(READY)
	@echo "installing what the site needs (once)"
	@$(PIP) --editable '.[docs]'
	@touch $@

clean:  ## remove .venv, caches and runs
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache runs

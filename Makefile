# make run, make test, make bench, make lint: all there is to know.
# Each does its own set-up into .venv, with uv when it is there and plain pip elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-long bench lint clean

run: $(VENV)/.run
	@$(BIN)/twins demo $(ARGS)

test: $(VENV)/.dev lint
	@$(BIN)/pytest -n 4 -m "not long" $(ARGS)

test-long: $(VENV)/.dev
	@$(BIN)/pytest -m long $(ARGS)

bench: $(VENV)/.dev
	@$(BIN)/python -m tests.bench $(ARGS)

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

$(VENV)/bin/python:
	@if command -v uv >/dev/null 2>&1; then uv venv -q --seed --python $(PYTHON) $(VENV); else $(PYTHON) -m venv $(VENV); fi

$(VENV)/.run: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "two twins: setting up $(VENV) (once)" >&2
	@if command -v uv >/dev/null 2>&1; then VIRTUAL_ENV=$(VENV) uv pip install -q -c constraints.txt -e .; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .; fi
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "two twins: setting up $(VENV) for tests (once)" >&2
	@if command -v uv >/dev/null 2>&1; then VIRTUAL_ENV=$(VENV) uv pip install -q -c constraints.txt -e ".[test,lint,study]"; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[test,lint,study]"; fi
	@touch $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .hypothesis

# Everything a clone needs, on a machine that has Python 3.11+, pip, venv, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

.PHONY: help demo test fast lint types coverage corpus zoo wheel docs bench speed mutations scoreboard clean

help:  ## Say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("rerail needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

demo: $(READY)  ## Set up, and play an agent's afternoon: every action once, nothing faked
	@$(BIN)/python docs/examples/afternoon.py

test: $(READY)  ## Set up, and run the tests
	$(BIN)/python -m pytest

lint: $(READY)  ## Format, lint and import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(READY)  ## mypy --strict, and the public API under pyright
	$(BIN)/mypy
	$(BIN)/pyright

coverage: $(READY)  ## Every branch of the public boundary is taken by its own tests
	$(BIN)/python -m coverage run --data-file=.cache/coverage --source=src/rerail/boundary -m pytest -q tests/unit/boundary
	$(BIN)/python -m coverage report --data-file=.cache/coverage --fail-under=100

corpus: $(READY)  ## Score the classifier on the public corpus, against its thresholds
	$(BIN)/python benchmarks/scores.py

zoo: $(READY)  ## Heal the public zoo of broken repositories, against its thresholds
	$(BIN)/python benchmarks/zoo.py

wheel: $(READY)  ## Build the wheel and try it in an environment of its own
	$(BIN)/python benchmarks/wheel.py

docs: $(READY)  ## Make the pages that are made from the tables
	$(BIN)/python docs/make.py

bench: $(READY)  ## What a call under recovery costs, beside other libraries
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/overhead.py

speed: $(READY)  ## How fast a failure is named, beside a plain loop and hyperscan alone
	$(BIN)/python benchmarks/classify.py

mutations: $(READY)  ## Every change of the boundary's tables fails a test
	$(BIN)/python benchmarks/mutations.py

scoreboard: $(READY)  ## What other libraries' classifiers make of the public corpora
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/scoreboard.py

clean:  ## Remove everything that can be made again
	rm -rf $(VENV) .cache dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

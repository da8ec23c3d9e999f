# `make` lists the targets. Everything runs in .venv, which is made when first needed.

PYTHON ?= python3
# not taken from the environment: set-up and clean wipe it
VENV   := .venv
CORE   := .venv-core
# what may differ where the optional libraries are absent; other tests run in .venv only
CORE_TESTS := external golden gridworld/test_smart.py gridworld/test_rendering.py \
    gridworld/vector/test_simulation.py policies rollout sim/test_compliance.py sim/test_spaces.py \
    trainers test_existing_code.py test_extras.py test_files.py test_packaging.py \
    test_resources.py test_terminal.py
# how many processes run the tests
PROCESSES ?= 2
# more arguments for pytest: make test PYTEST_ARGS="-x tests/sim"
PYTEST_ARGS ?=
# arguments for the check of the ratios: make bench-check BENCH_ARGS="--only move"
BENCH_ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# Building with the pinned setuptools in .venv: build isolation would fetch the newest instead.
# The compatible editable install puts this folder on the path as it is, so that `import abmarl`
# finds the package also where a clone lies beside the script.
EDITABLE := --no-build-isolation --config-settings editable_mode=compat --editable
INSTALL := PYTHONWARNINGS=ignore $(PIP) install --quiet --constraint constraints.txt $(EDITABLE)
SETUP := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo docs pictures test test-core test-nojit test-slow bench bench-check bench-limits bench-quick bench-rllib lint format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A stamp is written when its stage has succeeded. An interrupted stage starts again, a finished one
# is repeated only when pyproject.toml or constraints.txt has changed.
$(VENV)/.base: $(SETUP)
	@echo "setup: $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --quiet --constraint constraints.txt --upgrade pip setuptools
	@touch $@

$(VENV)/.demo: $(VENV)/.base
	@echo "setup: abmarl and what the demo needs"
	@$(INSTALL) '.[render]'
	@touch $@

$(VENV)/.docs: $(VENV)/.base
	@echo "setup: abmarl and what the documentation needs"
	@$(INSTALL) '.[docs]'
	@touch $@

$(VENV)/.test: $(VENV)/.base
	@echo "setup: abmarl and what the tests need"
	@$(INSTALL) '.[test]'
	@touch $@

demo: $(VENV)/.demo ## play 1,024 team battles and record one of them into out/
	@mkdir -p out
	$(BIN)/abmarl rollout team-battle --num-envs 1024 --steps 500 --seed 0 \
	    --save out/team_battle.npz --record out/team_battle.mp4 --plot out/team_battle.png

docs: $(VENV)/.docs ## build the documentation into out/docs/; needs Python 3.11
	@mkdir -p out
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going -b html \
	    -d out/doctrees docs out/docs

pictures: $(VENV)/.test ## make the films and windows of the pages anew
	$(BIN)/python -m docs.machinery.pictures

# One thread of torch and the like per process: on two cores more of them stand in each other's way.
# Files in their order: the slow ones (commands, pages, adapters) come first, small ones last.
test: $(VENV)/.test ## run the tests, but for the slow ones
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile \
	    --no-loadscope-reorder $(PYTEST_ARGS)

# An environment of its own with nothing but what abmarl needs and what runs tests.
$(CORE)/.test: $(SETUP)
	@echo "setup: $(CORE), without any of the optional libraries"
	@$(PYTHON) -m venv --clear $(CORE)
	@$(CORE)/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
	    --constraint constraints.txt --upgrade pip setuptools
	@PYTHONWARNINGS=ignore $(CORE)/bin/python -m pip --no-input install --quiet \
	    --constraint constraints.txt $(EDITABLE) . pytest hypothesis
	@touch $@

test-core: $(CORE)/.test ## run the tests of what works without any optional library
	$(CORE)/bin/python -m pytest $(addprefix tests/,$(CORE_TESTS)) $(PYTEST_ARGS)

test-nojit: $(VENV)/.test ## run the kernel tests uncompiled, which finds reads out of range
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/kernels tests/naive $(PYTEST_ARGS)

test-slow: $(VENV)/.test ## run the slow tests
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

bench: $(VENV)/.test ## measure everything, results also in out/benchmarks.json
	@mkdir -p out
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-columns=min,median,ops \
	    --benchmark-sort=name --benchmark-json out/benchmarks.json $(PYTEST_ARGS)

bench-check: $(VENV)/.test ## fail when a kernel has become slower; BENCH_ARGS=--update stores anew
	$(BIN)/python -m benchmarks.check $(BENCH_ARGS)

bench-limits: $(VENV)/.test ## measure what the engine must show, beside ABMARL_YARDSTICK=file.c
	$(BIN)/python -m benchmarks.limits

bench-quick: $(VENV)/.test ## run every benchmark once, without measuring
	$(BIN)/python -m pytest benchmarks --benchmark-disable $(PYTEST_ARGS)

bench-rllib: $(VENV)/.test ## measure training with RLlib, on batches and agent by agent
	$(BIN)/python -m benchmarks.rllib

lint: $(VENV)/.test ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test ## mend style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove .venv, out and all caches in this folder
	rm -rf $(VENV) $(CORE) out build dist *.egg-info .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

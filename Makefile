# One word each: setup run test check frameworks format openapi fuzz bench tau2 build deploy lock clean. CI uses the same words.
# Needs Python 3.11 or newer and make; everything else is installed here, in the .venv directories.
PYTHON ?= python3

BIN := .venv/bin
SAM := .venv-sam/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --no-input
# compiling all of it would take half as long again; what is used is compiled at its first import
PINNED := $(INSTALL) --no-deps --no-compile --require-hashes
# nor again at every other: some images keep Python from writing what it has compiled
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test check frameworks format openapi fuzz sim bench tau2 build deploy lock clean

help:
	@echo "make setup | run | test | check | frameworks | format | openapi | fuzz | sim | bench | tau2 | build | deploy | lock | clean"

# ---- environments: each is remade when its lock file changes -----------------------------------------

setup: .venv/.editable .venv-emulator/.pinned

.venv/.pinned: requirements-dev.txt
.venv-emulator/.pinned: infra/local/requirements.txt
.venv-sam/.pinned: infra/sam/requirements.txt
.venv-frameworks/.pinned: tests/frameworks/requirements.txt
.venv-tau2/.pinned: infra/tau2/requirements.txt

.venv/.pinned .venv-emulator/.pinned .venv-sam/.pinned .venv-frameworks/.pinned .venv-tau2/.pinned:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python $(PINNED) --requirement $<
	@touch $@

.venv/.editable: .venv/.pinned pyproject.toml
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# ---- daily work ----------------------------------------------------------------------------------------

run: export PYTHONPATH := layers/common/python
run: setup
	$(BIN)/python -m infra.local

# a process for each core; the tests of one file stay together, and files come in the order of tests/conftest.py
test: setup
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/cfn-lint template.yaml --regions us-east-1 $(addprefix --append-rules ,$(wildcard infra/rules))
	$(BIN)/python -m infra.openapi

# the adapters of agent frameworks, with the frameworks' own packages, against the local run
frameworks: setup .venv-frameworks/.pinned
	$(BIN)/mypy --cache-dir .mypy_cache/frameworks --python-executable .venv-frameworks/bin/python \
	  --package strandline_sdk.frameworks
	.venv-frameworks/bin/python -m pytest tests/frameworks

format: setup
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

openapi: setup
	$(BIN)/python -m infra.openapi write

# needs a running service: make run, and its key in STRANDLINE_KEY
fuzz: export STRANDLINE_URL ?= http://127.0.0.1:8787
fuzz: export PYTHONPATH := $(CURDIR)
fuzz: setup
	$(BIN)/schemathesis --config-file infra/openapi/schemathesis.toml run infra/openapi.json \
	  -H "X-API-Key: $(STRANDLINE_KEY)" -H "X-Strandline-Account: acme" -H "X-Strandline-User: fuzz" $(FUZZ)

# every call over moto, then a million schedules; SEED=4711 or SEED='commit/17/lost' shows one, SEEDS=5000:60000 runs some;
# MUTANTS=1 looks for runs that show what is taken out of the code
sim: setup
	$(if $(SEED)$(SEEDS)$(MUTANTS),,STRANDLINE_SIM=full $(BIN)/python -m pytest tests/sim/moto)
	$(BIN)/python -m tests.sim$(if $(MUTANTS),.mutants_search) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(SEED),'$(SEED)')

bench: setup
	$(BIN)/python -m tests.perf

# tau2-bench as a rollout service: TAU2='--model-url URL --model M --spool DIR', its key in STRANDLINE_TAU2_KEY
tau2: export PYTHONPATH := sdk
tau2: .venv-tau2/.pinned
	$(if $(TAU2),.venv-tau2/bin/python -m strandline_sdk.tau2 $(TAU2))

# ---- to AWS: no Docker needed ----------------------------------------------------------------------------

build deploy: export SAM_CLI_TELEMETRY = 0
build: export AWS_DEFAULT_REGION ?= us-east-1
build: export PATH := $(CURDIR)/$(SAM):$(PATH)

build: .venv-sam/.pinned
	$(SAM)/sam validate --lint
	$(SAM)/sam build
	$(SAM)/python infra/sam/layer.py

deploy: build
	$(SAM)/sam deploy --guided

# ---- lock files: pinned, hashed, for every Python from 3.11 on, naming no registry host ------------------

LOCKS := layers/common/requirements layers/mcp/requirements requirements-dev infra/local/requirements infra/sam/requirements \
  tests/frameworks/requirements infra/tau2/requirements

lock:
	rm -rf .venv-lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python $(INSTALL) uv
	set -e; for lock in $(LOCKS); do \
	  .venv-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	    --no-header --no-emit-index-url --output-file $$lock.txt $$lock.in; \
	done
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-emulator .venv-sam .venv-frameworks .venv-tau2 .venv-lock .aws-sam build dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

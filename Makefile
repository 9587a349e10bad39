# Two commands matter: `make demo` and `make test`. Both work on a fresh clone with Python >= 3.11 and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV     := VIRTUAL_ENV=$(VENV) $(BIN)/uv
TESTS  ?= tests

# Hundreds of processes import the same modules: compiled once, whatever the environment asks of Python.
unexport PYTHONDONTWRITEBYTECODE
# Several processes of tests share few cores; threads of linear algebra beside them only wait for each other.
test suite deep times house near quick audit soak docs: export OPENBLAS_NUM_THREADS := 1
deep audit docs: export OMP_NUM_THREADS := 1

.PHONY: help demo test suite deep times lint checks types style house near quick format audit soak peers bench docs matrix lock vendor clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    set up, then answer questions about the Adult census (core and plots only)"
	@echo "make near    what is near to FILE=src/sfumato/...py, or to all changes since the last commit, in seconds"
	@echo "make test    set up, then lint and test: of slow tests a part, and no long ones"
	@echo "make deep    networks, with which make test ends: needs torch, some 5 GB on Linux"
	@echo "make lint    ruff, mypy, import directions, rules about the project, examples in docstrings"
	@echo "make docs    examples, links, names, pictures and the notebook of the docs"
	@echo "make times   measure what each test costs, print the share of each package, write tests/times.json"
	@echo "make audit   slow and statistical tests whole, all seeded bugs, every Python that is present"
	@echo "make soak    kills and races, many rounds; random examples that no run has seen; whether time tells"
	@echo "make bench   speed, as ratios in one run (make peers first, to compare with other libraries)"
	@echo "make matrix  the quick tests on every other Python >= 3.11 that is present"
	@echo "make lock    write the hash-pinned requirement files anew"
	@echo "make vendor  fetch the scripts of the dashboard from npm, and check them"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Sfumato needs Python 3.11 or newer; call: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Each stamp is one set of locked packages plus this package itself, editable.
$(VENV)/.uv: requirements/uv.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(VENV)/.demo: requirements/demo.txt pyproject.toml $(VENV)/.uv
	$(UV) pip install --quiet --require-hashes -r requirements/demo.txt
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements/test.txt pyproject.toml $(VENV)/.uv
	$(UV) pip install --quiet --require-hashes -r requirements/test.txt
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# With CUDA's packages, which come along on Linux, it takes some 5 GB; who installs a CPU build of torch first has 0.7.
$(VENV)/.torch: requirements/torch.txt $(VENV)/.test
	$(UV) pip install --quiet --require-hashes -r requirements/torch.txt
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/sfumato demo

# What takes a second comes first; then the suite beside the slower checks, which end long before it; then what needs
# torch, which nothing else does.
test: style
	@$(MAKE) --no-print-directory --jobs 2 --keep-going suite checks
	@$(MAKE) --no-print-directory deep

# Of slow tests it runs a part (tests/timing.py); make audit runs them whole. Three processes at once, each with files of
# its own (tests/shares.py).
suite: $(VENV)/.test
	@$(BIN)/python -m tests.shares $(TESTS)

# Networks, and the examples in their docstrings.
deep: $(VENV)/.torch
	@$(BIN)/python -m pytest -q -m "not docs" -p no:xdist -p no:cacheprovider --part 0.2 --doctest-modules src/sfumato/learn/torch tests/learn/torch

times: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not docs" --times tests/times.json $(TESTS)

lint: style checks

# Each says what it has to say in one piece, between the lines of the suite.
checks: $(VENV)/.test
	@$(MAKE) --no-print-directory --keep-going --output-sync=target types house

types: $(VENV)/.test
	$(BIN)/mypy

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

# Rules about the project and examples in docstrings import the same modules: one process for both.
house: $(VENV)/.test
	$(BIN)/python -m pytest -q -m "not docs" --doctest-modules --ignore src/sfumato/learn/torch src/sfumato tests/meta

near: $(VENV)/.test
	@$(BIN)/python -m tests.near $(FILE)

quick: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not statistical and not mutation and not docs" $(TESTS) --part $(PART) $(if $(CASES),--cases $(CASES))

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

audit: $(VENV)/.torch
	SFUMATO_FULL_SIZE=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations 15 --ignore tests/ledger --ignore tests/attacks_on_ledgers \
	  --ignore tests/attacks_on_servers --ignore tests/attacks_on_questions/test_time_of_texts.py \
	  -m "statistical or mutation or sized or slow" $(TESTS)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m slow tests/ledger tests/attacks_on_ledgers tests/attacks_on_servers
	@$(MAKE) --no-print-directory matrix

# The last ones measure time, alone.
soak: $(VENV)/.test
	SFUMATO_FULL_SIZE=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations 15 --ignore tests/attacks_on_servers/test_time_over_http.py \
	  tests/ledger tests/attacks_on_ledgers tests/attacks_on_servers
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 15 -m random --hypothesis-profile=new $(TESTS)
	SFUMATO_FULL_SIZE=1 $(BIN)/python -m pytest tests/attacks_on_questions/test_time_of_texts.py tests/attacks_on_servers/test_time_over_http.py

# Peers exclude each other, so each has an environment of its own; they are measured, never imported.
# Not all of them run on Python 3.13, whatever this one is. Lomas takes 5.9 GB: make peers PEERS=benchmarks/peers/lomas/
PEERS ?= $(filter-out benchmarks/peers/lomas/,$(wildcard benchmarks/peers/*/))
peers: $(VENV)/.uv
	for peer in $(PEERS); do \
	  $(BIN)/uv venv --quiet --clear --no-python-downloads --python '>=3.11,<3.13' $$peer.venv \
	  && $(BIN)/uv pip install --quiet --python $$peer.venv/bin/python -r $$peer/requirements.txt || exit 1; \
	done

bench: $(VENV)/.torch
	for file in benchmarks/*/bench_*.py; do $(BIN)/python $$file || exit 1; done

docs: $(VENV)/.torch
	$(BIN)/python -m pytest -n 2 --doctest-modules src/sfumato tests/meta $$(grep -rl --include='test_*.py' 'mark\.docs' tests)

matrix:
	PYTHON=$(PYTHON) sh requirements/matrix.sh

# All but torch, which is 5 GB where its CUDA packages come along: it has a list of its own.
EXTRAS := plots frames postgres report spark parties sinks maps learn client server

lock: $(VENV)/.uv
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/uv.in -o requirements/uv.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/core.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml --extra plots --group build -o requirements/demo.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --constraints requirements/test.txt pyproject.toml --extra server --extra postgres --group build -o requirements/server.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml $(addprefix --extra ,$(EXTRAS)) --group test --group build -o requirements/test.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --constraints requirements/test.txt pyproject.toml --extra torch -o requirements/torch.txt

vendor:
	sh requirements/vendor.sh

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache

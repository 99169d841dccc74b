# Everything runs in .venv, which `setup` makes once and again only when the lock changes.
PYTHON ?= python3
BIN := .venv/bin
PROTOS := $(wildcard protos/bailiff/v1/*.proto)
COVERAGE_FLOOR = 96
PROTOC = PATH=$(BIN):$$PATH $(BIN)/python -m grpc_tools.protoc -Iprotos -I.venv/googleapis

.PHONY: setup setup-dev run test coverage fuzz lint format openapi protos protos-breaking image image-test image-base licences docs reference conformance mutants test-assets bench bench-storm chaos attack lock audit clean real-node

run: setup
	@$(BIN)/bailiff up $(ARGS)

# Two processes, which share no server; a file's tests stay together and in their order. One
# process, as a debugger wants it: make test ARGS=-n0
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test: setup-dev
	$(PYTEST) $(ARGS)

# The unit tests at twice the CPU. The floor stands just below what they cover; the others start
# processes and clusters, and cover little besides.
coverage: setup-dev
	$(PYTEST) --cov --cov-report=term:skip-covered --cov-fail-under=$(COVERAGE_FLOOR) tests/unit $(ARGS)

# Random requests, bytes and whatever else is drawn, four times as many as `make test` tries.
fuzz: setup-dev
	$(PYTEST) -m "schema or fuzzed" --hypothesis-profile=fuzz $(ARGS)

# Whether the unit tests would see a mistake: mutants of the files that keep the promises, or of
# others: make mutants ARGS="worker/timers/queue.py", make mutants ARGS="--sample 200". Minutes.
mutants: setup-dev
	@$(BIN)/python -m tests.mutants $(ARGS)

setup: .venv/.run
setup-dev: .venv/.dev

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Bailiff needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

# The locks name every package, so pip has nothing to resolve (--no-deps): the pip of Python 3.11 looked at a
# coverage released after the lock and ended there. "pip check" says if a lock lacks one after all.
.venv/.run: requirements/run.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(BIN)/python -m pip --disable-pip-version-check check
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip --disable-pip-version-check check
	@touch $@

lint: setup-dev .venv/googleapis
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint

format: setup-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Generated files are committed; tests fail when they no longer match their source.
openapi: setup
	$(BIN)/python -m bailiff.bootstrap.openapi > openapi.json

protos: setup-dev .venv/googleapis
	$(PROTOC) --python_out=service --mypy_out=service $(PROTOS)
	$(PROTOC) --grpc_python_out=service --mypy_grpc_out=service $(filter %_service.proto,$(PROTOS))
	$(PROTOC) -Iservice --python_out=service --mypy_out=service service/bailiff/agent/cri/runtime.proto

# Fails where the protos break callers of the last commit's.
protos-breaking: setup-dev .venv/googleapis
	rm -rf .venv/protos-before && mkdir .venv/protos-before
	git archive HEAD protos buf.yaml | tar -x -C .venv/protos-before
	mkdir -p .venv/protos-before/.venv && cp -r .venv/googleapis .venv/protos-before/.venv/
	$(BIN)/buf breaking --against .venv/protos-before

# google.rpc.Status for protoc and buf, out of the installed package: nothing is downloaded.
.venv/googleapis: .venv/.dev
	@mkdir -p $@/google/rpc
	@cp "$$($(BIN)/python -c 'import google.rpc; print(list(google.rpc.__path__)[0])')/status.proto" $@/google/rpc/
	@touch $@

# The image without a registry: an OCI archive, its packages and its SBOM in build/image. What it
# needs of the machine, and the image test, too: CONTRIBUTING.md.
image: setup-dev
	$(BIN)/python -m image

# Builds it twice, compares the bytes, runs it and asks it.
image-test: setup-dev
	BAILIFF_BUILD_IMAGE=1 $(BIN)/python -m pytest -n 0 tests/image $(ARGS)

# The Dockerfile's base as the registry has it now.
image-base:
	digest=$$(docker buildx imagetools inspect "$$(sed -n 's/^ARG BASE=\(.*\)@.*/\1/p' Dockerfile)" \
		--format '{{.Manifest.Digest}}') \
		&& sed -i.old "s/^\(ARG BASE=.*@\).*/\1$$digest/" Dockerfile && rm Dockerfile.old

licences: setup-dev
	@$(BIN)/python -m image.licences > .venv/licences.md && mv .venv/licences.md docs/licences.md

# The pages in docs/reference that the code writes itself, the picture of the layers in
# docs/architecture/index.md, and the chart's dashboard.
reference: setup-dev
	$(BIN)/python -m handbook

# The documents as a site in build/site: python -m http.server -d build/site. It ends with an error
# where a link leads nowhere, or a page has no place in mkdocs.yml.
docs: setup-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

# The real code's answers: make conformance DIR=folder-of-jsonl-files
conformance: setup-dev
	$(BIN)/python -m tests.conformance $(DIR)

# Builds kube-apiserver and its companions once and prints their folder; installs the generators of
# clients that openapi.json is tried with. The releases that can be
# had are the folders of tests/go: make test-assets KUBERNETES=1.36.2
KUBERNETES ?= 1.37.1
test-assets:
	@$(PYTHON) tests/clients/build_assets.py
	@$(PYTHON) tests/go/build_assets.py $(KUBERNETES)

bench: setup-dev
	$(BIN)/python -m benchmarks $(ARGS)

# Both need the programs of `make test-assets`, found through $KUBEBUILDER_ASSETS: docs/performance.md.
bench-storm: setup-dev
	$(BIN)/python -m benchmarks.storm $(ARGS)

chaos: setup-dev
	$(BIN)/python -m tests.chaos $(ARGS)

# Attacks on running processes, with healthy callers beside them: make attack ARGS="'rest-*'".
attack: setup-dev
	$(BIN)/python -m tests.attack $(ARGS)

# Pins every dependency, with hashes, for all supported Python versions and platforms.
lock: setup-dev
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header pyproject.toml -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header pyproject.toml --group dev -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header service/pyproject.toml --constraints requirements/dev.txt -o requirements/client.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header tests/clients/python/requirements.in -o tests/clients/python/requirements.txt

audit: setup-dev
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements/run.txt
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements/client.txt

clean:
	rm -rf .venv build .mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage

# A real kubelet in a kernel that runs as a process, by hand: tests/real_node, CONTRIBUTING.md.
SCENE ?= memory
real-node: setup-dev
	$(BIN)/python -m tests.real_node $(SCENE) $(ARGS)

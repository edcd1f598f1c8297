# Makefile: the commands of this project; `make help` lists them.
#
# setup makes .venv, installs dependencies and builds the extension; each part is redone only when its inputs change (stamp
# files in .venv).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# processes that run the tests (pytest-xdist)
WORKERS ?= 2
# what is imported is byte-compiled then
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile

# bytecode is kept in .venv and beside the sources, whatever else is asked for: tests start Python some hundred times
export PYTHONDONTWRITEBYTECODE :=

# whether to build for CUDA, as setup.py takes it: where there is a GPU, as nvcc takes minutes. And for which compute
# capabilities: the GPU's, else 7.5, whose PTX drivers compile for newer ones
GPU := $(shell nvidia-smi >/dev/null 2>&1 && echo yes)
export GG_CUDA ?= $(if $(GPU),auto,0)
export GG_CUDA_ARCH ?= $(if $(GPU),native,75)
C_SOURCES := $(shell find csrc -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null)
PY_FILES := granular_gym envs scenes tests testbed examples benchmarks validation tools setup.py $(wildcard assets/*.py)
STAMP_SYSTEM := $(VENV)/.stamp-system
STAMP_PACKAGES := $(VENV)/.stamp-packages
STAMP_DEV := $(VENV)/.stamp-dev
STAMP_CUDA := $(VENV)/.stamp-cuda-$(GG_CUDA)
STAMP_BUILD := $(VENV)/.stamp-build
STAMP_TRAIN := $(VENV)/.stamp-train
STAMP_DOCS := $(VENV)/.stamp-docs
STAMP_WHEEL := $(VENV)/.stamp-wheel

.PHONY: help setup build cuda packages demo train test sanitize bench instructions gpu validate wheel docs docs-packages lint \
	format typecheck clean

help:
	@echo "make demo      run the bulldozer; write a film, pictures and a report to out/bulldozer"
	@echo "make train     learn the bulldozer in 5 minutes from 32 demonstrations, compare with the expert, plot and film it"
	@echo "make test      run the tests (FULL=1: all, in full size; ARGS='-k name' passes options to pytest; WORKERS=2 processes)"
	@echo "make sanitize  unit and hostile tests on an extension built with AddressSanitizer and UBSan (minutes)"
	@echo "make bench     measure speed; write tables and plots to benchmarks/results/cpu"
	@echo "make instructions  hold the instructions of five small scenes to stored limits (valgrind; ARGS=--renew: new limits)"
	@echo "make gpu       on a machine with a GPU: build, test and measure within 10 minutes (docs/gpu.md; WHEELS=folder)"
	@echo "make validate  measure physical laws, write docs/validation.md and its pages (FULL=1: all checks; ARGS='rest silo': some)"
	@echo "make docs      the site: build/site/index.html, from docs/ and docstrings; warnings and broken links are errors"
	@echo "make wheel     source distribution and wheel in dist/, checked, and tried with every Python found (docs/packaging.md)"
	@echo "make setup     virtual environment, packages and the C extension"
	@echo "make build     the C extension only"
	@echo "make cuda      compile the CUDA backend beside other work; the next make build links it"
	@echo "make lint      check style and the direction of imports and includes; make format applies the style"
	@echo "make clean     remove build products"

setup: $(STAMP_BUILD)

build: $(STAMP_BUILD)

packages: $(STAMP_DEV)

# Debian packages and the virtual environment
$(STAMP_SYSTEM): tools/setup_system.sh
	@PYTHON=$(PYTHON) VENV=$(VENV) sh tools/setup_system.sh
	@touch $@

# Python packages of the extras $(1), editable, so that changes to Python files need no new installation; the extension is
# built once, below
define install
	@echo "installing Python packages into $(VENV): $(1)"
	@mkdir -p build
	@GG_EXTENSION=0 $(PIP) --no-build-isolation --editable ".[$(1)]" >build/pip.log 2>&1 || (cat build/pip.log; exit 1)
	@touch $@
endef

# those of the demo
$(STAMP_PACKAGES): $(STAMP_SYSTEM) pyproject.toml setup.py MANIFEST.in
	@mkdir -p build
	@$(PIP) --upgrade "pip>=23" "setuptools>=77" "numpy>=2.0" >build/pip.log 2>&1 || (cat build/pip.log; exit 1)
	$(call install,demo)

# and those of tests and checks
$(STAMP_DEV): $(STAMP_PACKAGES)
	$(call install,dev)

# changes where GG_CUDA does
$(STAMP_CUDA): $(STAMP_PACKAGES)
	@rm -f $(VENV)/.stamp-cuda-*
	@touch $@

$(STAMP_BUILD): $(STAMP_PACKAGES) $(STAMP_CUDA) $(C_SOURCES)
	@echo "building the C extension"
	@mkdir -p build
	@GG_WERROR=1 $(BIN)/python setup.py --quiet build_ext --inplace >build/build.log 2>&1 || \
		(cat build/build.log; exit 1)
	@touch $@

# beside other work: nvcc takes minutes. The next `make build` finds what this leaves, and links it
cuda: $(STAMP_PACKAGES)
	@mkdir -p build
	@GG_WERROR=1 $(BIN)/python setup.py --quiet build --build-lib build/cuda >build/cuda.log 2>&1 || \
		(cat build/cuda.log; exit 1)

demo: $(STAMP_BUILD)
	@$(BIN)/python examples/bulldozer_demo.py $(ARGS)

# packages for training; TORCH may name a version, as torch==2.13.0. An existing run is resumed
TORCH ?= torch
$(STAMP_TRAIN): $(STAMP_PACKAGES)
	@$(PIP) "$(TORCH)" >build/pip.log 2>&1 || (cat build/pip.log; exit 1)
	$(call install,train)

train: $(STAMP_BUILD) $(STAMP_TRAIN)
	@$(BIN)/python examples/train_sac.py --minutes 5 $(ARGS) \
		$(if $(wildcard out/train/bulldozer/checkpoint.zip),--resume out/train/bulldozer,Bulldozer-v1 --out out/train/bulldozer)
	@$(BIN)/python -m granular_gym play Bulldozer-v1 --policy out/train/bulldozer/checkpoint.zip --every 8 --out out/train/bulldozer

test: $(STAMP_BUILD) $(STAMP_DEV)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(if $(FULL),--full) $(ARGS)

sanitize: $(STAMP_BUILD) $(STAMP_DEV)
	@tools/check_sanitized.sh $(ARGS)

bench: $(STAMP_BUILD) $(STAMP_DEV)
	@$(BIN)/python benchmarks/run.py $(ARGS)

instructions: $(STAMP_BUILD) $(STAMP_DEV)
	@$(BIN)/python -m benchmarks.instructions $(or $(ARGS),--check)

# its own environment in build/gpu, from the system's packages and the folder of wheels: needs no network
gpu:
	@WHEELS="$(WHEELS)" $(PYTHON) tools/run_gpu.py $(ARGS)

validate: $(STAMP_BUILD) $(STAMP_DEV)
	@$(BIN)/python validation/run.py $(if $(FULL),--full) $(ARGS)

# and those of the site
$(STAMP_DOCS): $(STAMP_PACKAGES)
	$(call install,docs)

docs-packages: $(STAMP_DOCS)

# the first variable hides an advertisement; the second names a folder of IPython, whose settings hide that what the notebook's
# kernel is told on this machine is not encrypted
docs: $(STAMP_BUILD) $(STAMP_DOCS)
	@mkdir -p build/ipython/profile_default
	@echo "c.IPKernelApp.log_level = 40" >build/ipython/profile_default/ipython_kernel_config.py
	@NO_MKDOCS_2_WARNING=1 IPYTHONDIR=$(CURDIR)/build/ipython $(BIN)/python -m mkdocs build --strict >build/docs.log 2>&1 || (cat build/docs.log; exit 1)
	@echo "build/site/index.html"

# and those that repair and check wheels
$(STAMP_WHEEL): $(STAMP_PACKAGES)
	$(call install,wheel)

# TRY=: without trying it in environments of all Pythons, which takes a minute or two
TRY ?= 1
wheel: $(STAMP_WHEEL)
	@$(BIN)/python tools/build_wheel.py
	@$(if $(TRY),$(BIN)/python -m testbed.wheels dist/*.whl)

lint: $(STAMP_DEV)
	@$(BIN)/ruff check $(PY_FILES)
	@$(BIN)/ruff format --check $(PY_FILES)
	@$(BIN)/python tools/check_includes.py
	@$(BIN)/python tools/check_imports.py
	@if command -v clang-format >/dev/null; then clang-format --dry-run --Werror $(C_SOURCES); \
		else echo "clang-format is not installed: C style not checked"; fi

typecheck: $(STAMP_DEV)
	@$(BIN)/mypy
	@$(BIN)/python tools/check_types.py

format: $(STAMP_DEV)
	@$(BIN)/ruff check --fix-only --quiet $(PY_FILES)
	@$(BIN)/ruff format $(PY_FILES)
	@$(BIN)/python tools/check_includes.py
	@if command -v clang-format >/dev/null; then clang-format -i $(C_SOURCES); fi

clean:
	rm -rf build dist out *.egg-info granular_gym/*.so $(VENV)/.stamp-build .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

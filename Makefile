# `make` alone lists the targets. Needs Python 3.11 or newer and make; everything else goes into .venv/.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check
# Two workers a processor: one that waits for a browser or a kernel leaves its processor idle.
WORKERS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

help:
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' Makefile

read: book ## build the book, serve it on this machine and open it in a browser; no torch needed
	@$(BIN)/python tools/site/serve.py _build/html

book: $(VENV)/site ## build the book into _build/html; a warning is an error
	@rm -rf _build/html _build/.doctrees
	$(BIN)/jupyter-book build . --all -W -n --keep-going -q
	@$(BIN)/python tools/site/pack.py
	@$(BIN)/python tools/site/lite.py _build/html

zip: book ## the built book as one file, to be read without a network
	@ls -l _build/html/tfbook.zip

speed: $(VENV)/all book ## what each page costs its reader: transfer, largest paint, jumps; how fast the model of chapter 12 writes; and each move of a figure
	@PYTHONPATH=tools/site $(BIN)/python tools/check/speed.py
	@PYTHONPATH=tools/site $(BIN)/python tools/check/writing_speed.py
	@EVERY_MOVE=1 $(BIN)/python -m pytest -q -rP tests/figures/test_paint.py

links: book ## ask every other host that the book links to; needs a network
	@$(BIN)/python tools/check/links.py

pdf: book ## print the book with Chromium and bind it into _build/book.pdf
	@$(BIN)/python -c "import playwright, pypdf" 2>/dev/null || $(PIP) -q -c constraints.txt playwright pypdf
	@$(BIN)/python tools/site/pdf.py

test: $(VENV)/all book ## install everything, build the book, run every test and every notebook
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT INT TERM && TMPDIR=$$tmp $(PYTEST) --nbval --nbval-current-env $(ARGS)

portable: $(VENV)/all ## run the notebooks and the fast tests as three processors would; CPU=haswell for one
	@$(BIN)/python tools/check/portable.py $(CPU)

oldest: $(VENV)/made ## install the package alone, with the oldest NumPy that it takes, and run its examples
	$(PYTHON) -m venv --clear _build/oldest
	_build/oldest/bin/python -m pip install --disable-pip-version-check -q . numpy==2.0.0 pytest
	_build/oldest/bin/pytest -q --noconftest --pyargs tfbook.numpy tfbook.cost

sphinx: $(VENV)/site ## build the book without Jupyter Book, with the newest Sphinx, and look for its figures, numbers and citations
	@$(BIN)/python tools/check/plain_sphinx.py

colab: $(VENV)/all ## run two chapters as Colab would, beside Colab's usual versions; slow, makes an environment with PyTorch
	@$(BIN)/python tools/check/colab.py

bench: $(VENV)/all ## time attention, plain and streaming, in NumPy and in PyTorch
	@$(BIN)/python tools/check/bench.py

execute: $(VENV)/all ## run all notebooks again and keep their outputs; NB=chapters/03-… for one
	@$(BIN)/python tools/site/execute.py $(NB)

lint: $(VENV)/all ## check the style of code, notebooks, scripts and style sheets; needs npm
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory node_modules/made
	npx biome ci --error-on-warnings

address: ## move the book to another repository: make address URL=https://github.com/OWNER/NAME
	@$(PYTHON) tools/site/address.py "$(URL)"

node_modules/made: package.json package-lock.json
	@command -v npm >/dev/null || { echo "There is no npm here. Install Node.js to check scripts and style sheets; nothing else needs it."; exit 1; }
	@npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

$(VENV)/made:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) tools/site/python_check.py
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/site: $(VENV)/made pyproject.toml constraints.txt
	@$(PIP) -c constraints.txt -e ".[site]" || { echo "The book's tools could not be installed: see pip's message above. Is the network there?"; exit 1; }
	@touch $@

$(VENV)/all: $(VENV)/made pyproject.toml requirements.txt constraints.txt
	@$(PIP) -r requirements.txt -e . || { echo "The requirements could not be installed: see pip's message above. torch alone is large; is the disk full?"; exit 1; }
	@touch $@ $(VENV)/site

.PHONY: help read book pdf zip speed links test portable oldest sphinx colab bench execute lint address
.NOTPARALLEL:

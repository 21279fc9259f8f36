# From Convolution to Attention. `make` lists what there is to do; without make, see installing.md.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
TESTED := .venv/tests

# On Linux the ordinary package of PyTorch brings gigabytes for NVIDIA's GPUs: where there is none,
# its own index has the build for the CPU.
CPU_BUILDS := https://download.pytorch.org/whl/cpu
TORCH_INDEX ?= $(if $(filter Linux,$(shell uname -s)),$(shell nvidia-smi -L >/dev/null 2>&1 || echo $(CPU_BUILDS)))

export PIP_DISABLE_PIP_VERSION_CHECK := 1

SUITABLE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
UNSUITABLE := The book needs Python 3.11, 3.12 or 3.13 with its venv module, and "$(PYTHON)" is not that: \
install it (on Debian and Ubuntu with python3-venv), or name another one, as in "make lab PYTHON=python3.12".
UNREACHED := There is no PyTorch to be had from $(TORCH_INDEX): the ordinary package serves as well.
COPYING := Making copies of the lessons in my/, which are yours; JupyterLab opens in about half a minute.
OPENING := Opening JupyterLab on your lessons, in my/: it takes about ten seconds.

.DEFAULT_GOAL := help
.PHONY: help lab fresh progress summary test book pdf epub zip edit execute budget experiments shake train days new-day class collect bench speed mutation lock

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F '|' '{ printf "%-20s %s\n", $$1, $$2 }'

lab: $(READY) ## read the lessons in JupyterLab, in copies of your own (in my/); LESSON=01_convolution opens that one
	@[ -e my ] && echo '$(OPENING)' || echo '$(COPYING)'; $(BIN)/python -m utils.press.jupyter lab $(LESSON) -- $(ARGS)

fresh: $(READY) ## put a new copy of a lesson beside yours: LESSON=01_convolution
	@$(BIN)/python -m utils.press.jupyter fresh $(LESSON)

progress: $(READY) ## how far you are: what you have passed, what is next, and how long the rest takes
	@$(BIN)/python -m utils.press.jupyter progress

summary: $(READY) ## write what you can do now as a page to print: my/summary.html
	@$(BIN)/python -m utils.press.jupyter summary

test: $(TESTED) ## check everything but speed: lessons, code, book; ALL=1 also what passed here before
	@$(BIN)/python -m pytest --nbval $(if $(ALL),--all) $(ARGS)

book: $(READY) ## build the book and serve it on this machine; PORT=8000
	@$(BIN)/python $(BIN)/jupyter-book build . --quiet -W -n --keep-going
	@$(BIN)/python -m utils.press.serving $(PORT)

pdf: $(TESTED) ## print the whole book into _build/, through Chromium
	@$(BIN)/python -m utils.press.offline pdf

epub: $(TESTED) ## write the whole book for e-readers into _build/, through Chromium
	@$(BIN)/python -m utils.press.offline epub

zip: $(READY) ## pack the built book into _build/, to be read from disk
	@$(BIN)/python -m utils.press.offline zip

edit: $(READY) ## open the paired originals in JupyterLab, for authors
	@$(BIN)/python -m utils.press.jupyter edit $(LESSON) -- $(ARGS)

execute: $(TESTED) ## run the lessons that have changed and store their outputs; LESSON=01_convolution or ALL=1 for others
	@$(BIN)/python -m utils.press.notebooks $(LESSON) $(if $(ALL),--all)

budget: $(READY) ## print what each lesson asks of its reader, and where that is too much
	@$(BIN)/python -m utils.press.budget

experiments: $(READY) ## run the long experiments whose results are stale; VERIFY=1 if only the form of the code changed
	@$(BIN)/python -m utils.measure.experiments $(NAMES) $(if $(VERIFY),--verify) $(if $(SCHEDULER),--scheduler $(SCHEDULER))

shake: $(TESTED) ## run pages with weights moved by their last bit: does each finding hold? PAGES="deeper/02_recurrent" RUNS=12
	@$(BIN)/python -m utils.press.shake $(PAGES) --runs $(or $(RUNS),12) $(if $(ALL),--anew) $(if $(VERIFY),--verify)

train: $(READY) ## train a GPT in several processes of this machine, from its checkpoint on: PROCESSES=2
	@$(BIN)/python -m utils.tasks.many_processes --processes $(or $(PROCESSES),2) $(ARGS)

days: $(READY) ## write the table of contents and the lists of days from lessons.toml
	@$(BIN)/python -m utils.press.lessons

new-day: $(READY) ## begin a lesson: NUMBER=16 TOPIC=audio
	@$(BIN)/python -m utils.press.new_day "$(NUMBER)" "$(TOPIC)"

class: $(READY) ## make a folder of some days for students, and one with solutions for you: FROM=0 TO=9 WITHOUT=7
	@$(BIN)/python -m utils.press.classroom.folders $(FROM) $(TO) $(WITHOUT)

collect: $(READY) ## run what students handed in, each alone and within limits: FOLDER=hand-ins
	@$(BIN)/python -m utils.press.classroom.collecting "$(FOLDER)"

bench: $(READY) ## measure time and memory of our layers beside the library's
	@$(BIN)/python -m benchmarks

# With the same instructions for both: the library's own kernels have wider ones than its products on some processors.
speed: export ONEDNN_MAX_CPU_ISA := AVX2
speed: $(TESTED) ## check that our layers keep their bounds beside the library's; wants a quiet machine
	@$(BIN)/python -m pytest -m speed --numprocesses=0 tests/test_benchmarks.py $(ARGS)

mutation: $(TESTED) ## make 300 small mistakes in the layers, one at a time: do the tests notice? N=300 SEED=0 MODULES="attention seq2seq"
	@$(BIN)/python tests/mutation.py --sample $(or $(N),300) --seed $(or $(SEED),0) $(MODULES)

lock: $(READY) ## write the requirements files anew, from the ranges in pyproject.toml; ARGS=--upgrade for the newest versions
	@$(BIN)/python -m pip install --quiet uv
	@cat requirements.txt requirements-test.txt > .venv/lock.txt
	@$(COMPILE) --extra lab --extra test --output-file .venv/lock.txt $(ARGS) pyproject.toml
	@$(NAMES_ALONE) .venv/lock.txt > .venv/all.txt
	@$(COMPILE) --extra lab --constraint .venv/all.txt --output-file .venv/lab.txt pyproject.toml
	@$(NAMES_ALONE) .venv/lab.txt | grep -Ev '$(NOT_LOCKED)' > .venv/lock.new
	@awk '/^[^ ]/ { keep = !/$(NOT_LOCKED)|^torch=/ } keep' .venv/lab.txt > .venv/hashes.new
	@awk 'FNR == NR { there[$$1]; next } /^[^ ]/ { keep = /^#/ || !($$1 in there) && !/$(NOT_LOCKED)/ } keep' \
	  .venv/lab.txt .venv/lock.txt > .venv/test.new
	@mv .venv/lock.new requirements.txt && mv .venv/hashes.new requirements-hashes.txt
	@mv .venv/test.new requirements-test.txt

COMPILE := UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/python -m uv pip compile --quiet --universal \
  --python-version 3.11 --fork-strategy fewest --no-annotate --no-config --generate-hashes
NAMES_ALONE := sed -n 's/ \\$$//; /^[^ ]/p'
NOT_LOCKED := ^(nvidia-|cuda-|triton)

# The set-up. `ready` is written last and names this folder: what was interrupted is done again.
ifneq "$(shell cat $(READY) 2>/dev/null)" "$(CURDIR)"
.PHONY: $(READY)
endif

# Where the book was before, its commands name the folder of their Python.
define MOVE
import pathlib, sys
old, new = (f"{folder}/.venv/".encode() for folder in sys.argv[1:])
for file in pathlib.Path(".venv/bin").iterdir():
    if file.is_file() and not file.is_symlink() and file.read_bytes().startswith(b"#!"):
        file.write_bytes(file.read_bytes().replace(old, new))
endef
export MOVE

$(READY): requirements.txt requirements-hashes.txt pyproject.toml
	@if [ -e .venv/unfinished ] || ! $(BIN)/python -c '$(SUITABLE)' 2>/dev/null; then \
	  $(PYTHON) -c '$(SUITABLE)' 2>/dev/null || { echo '$(UNSUITABLE)' >&2; exit 1; }; \
	  echo 'Setting up the book in .venv: this happens once and takes a few minutes.'; \
	  rm -rf .venv && mkdir .venv && touch .venv/unfinished && $(PYTHON) -m venv .venv; \
	elif [ -e $(READY) ] && [ "$$(cat $(READY))" != "$$(pwd -P)" ]; then \
	  echo 'The book was moved: its .venv goes with it.'; \
	  $(BIN)/python -c "$$MOVE" "$$(cat $(READY))" "$$(pwd -P)"; \
	fi
	@$(BIN)/python -m pip install --no-deps --require-hashes --requirement requirements-hashes.txt
	@torch=$$(grep '^torch==' requirements.txt); \
	$(if $(TORCH_INDEX),$(BIN)/python -m pip install --no-deps --retries 1 --index-url $(TORCH_INDEX) $$torch 2>/dev/null || { echo '$(UNREACHED)';) \
	$(BIN)/python -m pip install $$torch$(if $(TORCH_INDEX),; })
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@rm -f .venv/unfinished
	@pwd -P > $(READY)

$(TESTED): $(READY) requirements-test.txt
	@$(BIN)/python -m pip install --no-deps --require-hashes --requirement requirements-test.txt
	@touch $(TESTED)

# The front door. Every target only calls what a developer could call alone; `make help` lists them.

# What `make test` runs, in this order.
TEST_STEPS := ci release sdk crash attack

# The packages behind the targets.
SERVER := orrery
CRASH  := orrery-crash
ATTACK := orrery-attack
BENCH  := orrery-bench

# ARGS goes to the program: make run ARGS='--cosmos-port 9000'
ARGS ?=

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
BINARY     := $(TARGET_DIR)/release/$(SERVER)

# Where `make install` puts things.
PREFIX ?= $(HOME)/.local
PLACE  := $(DESTDIR)$(PREFIX)

# Two cores are busy with one step; steps after another also keep the output readable.
.NOTPARALLEL:
.PHONY: help run install test bench fmt ci release sdk crash attack nextest
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: release ## build and start the server; ARGS='…' goes to `serve`
	$(BINARY) serve $(ARGS)

install: release ## put `orrery`, its manual and its completions under PREFIX (~/.local)
	install -Dm755 $(BINARY) $(PLACE)/bin/orrery
	$(BINARY) man --out $(PLACE)/share/man/man1
	mkdir -p $(PLACE)/share/bash-completion/completions $(PLACE)/share/zsh/site-functions $(PLACE)/share/fish/vendor_completions.d
	$(BINARY) completions bash > $(PLACE)/share/bash-completion/completions/orrery
	$(BINARY) completions zsh > $(PLACE)/share/zsh/site-functions/_orrery
	$(BINARY) completions fish > $(PLACE)/share/fish/vendor_completions.d/orrery.fish
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) echo "orrery is installed; try: orrery serve";; \
		*) echo "orrery is installed; add it to your PATH: export PATH=$(PREFIX)/bin:\$$PATH";; esac

test: $(TEST_STEPS) ## everything, from a clean checkout
	@echo "make test: all of it passed ($(TEST_STEPS))"

bench: ## measure a `dist` build; ARGS='…' chooses what
	cargo build --profile dist --locked -p $(SERVER)
	cargo run --profile dist --locked -p $(BENCH) -- $(ARGS)

fmt: ## format the source
	cargo fmt --all

ci: nextest ## format check, tidy, clippy, tests (dev profile)
	cargo xtask ci

release: ## the server, in release; SDK runs and the crash harness use this one build
	cargo build --release --locked -p $(SERVER)

sdk: release ## the official SDKs, unmodified, against the release server
	ORRERY_BIN=$(abspath $(BINARY)) testing/sdk/run.sh
	python3 testing/sdk/compat.py --check

crash: release ## kill -9 and lost writes: what was acknowledged is there
	ORRERY_BIN=$(abspath $(BINARY)) cargo run --locked -p $(CRASH)

attack: release ## hostile input, exhaustion, faulty disks, damaged files; ARGS=--long for the long form
	ORRERY_BIN=$(abspath $(BINARY)) cargo run --locked -p $(ATTACK) -- $(ARGS)

# Building nextest takes minutes, so it is installed once; `cargo xtask ci` uses cargo test where it cannot be.
nextest:
	@cargo nextest --version >/dev/null 2>&1 || cargo install --locked cargo-nextest \
		|| echo "cargo-nextest could not be installed; cargo test runs the tests instead"

# What one does with this package. Each target says what it does; `make` alone lists them.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: apple demo bench fuzz soak help setup build test tsan lint docs check clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing (Debian packages, .venv); nothing where all is there
	@Scripts/setup

build: ## build the library and the command line
	@Scripts/setup build
	@swift build

demo: ## install what is missing, build, and show a service read through the technical cache
	@Scripts/demo

test: ## install what is missing, build, run every test (real services included)
	@Scripts/test

tsan: ## install what is missing, build for the thread sanitizer, run what many threads touch; a race fails it
	@Scripts/tsan

lint: ## formatting rules, strictly
	@Scripts/lint

docs: ## the documentation as a DocC archive in .build/docs; warnings are errors
	@Scripts/setup build
	@Scripts/docs

bench: ## measure the caches, the language and the proxy beside SQLite, nginx and Python's, in release mode
	@Scripts/bench

fuzz: ## fuzz the OData language for SECONDS=60, from SEED where one is given; then very deep and very long texts
	@Scripts/setup build
	@swift build -c release --package-path Fuzzing >&2
	@Fuzzing/.build/release/LanguageFuzzer $(or $(SECONDS),60) $(SEED) \
	  || { status=$$?; [ $$status -lt 128 ] || { echo "ended by a signal while it read:"; cat Fuzzing/.build/reading.txt; }; exit $$status; }

soak: ## raw HTTP responses under the address sanitizer and random histories for MINUTES=20; the tests on encrypted files
	@Scripts/setup build
	@Scripts/soak $(or $(MINUTES),20)

apple: ## compile the package for macOS and iOS, on Linux; nothing is linked or run
	@Scripts/apple-check

check: ## every gate in order: format, clean build, tests of the architecture, documentation, Apple's platforms
	@Scripts/check

clean: ## remove what was built and the .venv
	@rm -rf .build .build-tsan .build-asan .venv Fuzzing/.build

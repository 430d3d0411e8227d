# Each target is one line of what it does; `make` alone lists them.

GO       ?= go
BIN      := $(CURDIR)/bin
LINT     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 10s
PKG      ?= ./...
# The race detector needs cgo and a C compiler; without one the tests run without it.
RACE     := $(shell $(GO) env CGO_ENABLED | grep -q 1 && command -v "$$($(GO) env CC)" >/dev/null 2>&1 && echo -race)

.DEFAULT_GOAL := help
.PHONY: help build demo registry test lint fuzz bench e2e golden

help: ## print this list
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

# Without cgo the program is one static file, and starts half a millisecond sooner.
build: ## build the command into bin/plugins
	CGO_ENABLED=0 $(GO) build -buildvcs=false -o "$(BIN)/plugins" ./cmd/plugins

demo: ## run the main job on a registry in process, and show each step
	$(GO) run -buildvcs=false ./internal/demo

registry: ## leave the demo's registry running in the foreground, as a playground
	$(GO) build -buildvcs=false -o "$(BIN)/demo" ./internal/demo && exec "$(BIN)/demo" -serve

test: ## run the tests, with the race detector where there is a C compiler
	@$(if $(RACE),,echo "no C compiler: testing without the race detector")
	$(GO) test $(RACE) $(PKG)

lint: ## check format, vet, style and import rules
	@test -z "$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go'))" || { gofmt -l $$(git ls-files -co --exclude-standard '*.go'); exit 1; }
	$(GO) vet ./... && cd e2e && $(GO) vet ./...
	$(GO) run $(LINT) run ./...

fuzz: ## run every fuzz target for FUZZTIME (10s)
	@FUZZTIME=$(FUZZTIME) sh testdata/fuzz.sh

bench: ## measure speed, as ratios within one run
	$(GO) test -run '^$$' -bench . -benchtime 1x ./internal/bench

e2e: ## test against real registries and clients (docker-registry, skopeo and others, where installed)
	cd e2e && $(GO) test ./...

golden: ## rewrite expected outputs from what the program prints
	$(GO) test $$(grep -rlE 'Bool\("update"|scripttest\.Run' --include='*_test.go' . | xargs -n1 dirname | sort -u | grep -v internal/scripttest) -update

GO          ?= go
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
SOURCES      = find . -name node_modules -prune -o -name '*.go' -print

# How long each fuzz target runs, how many run at once, and which of them.
FUZZTIME    ?= 60s
FUZZJOBS    ?= 6
FUZZ        ?= Fuzz

# Known vulnerabilities are looked up in a database on the network; VULN=require
# makes it an error that it cannot be reached.
GOVULNCHECK ?= $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0
VULN        ?=

.PHONY: build test check lint vuln bench fuzz fmt dist

build: ## the program, in bin/
	$(GO) build -o bin/mcpbridge ./cmd/mcpbridge

test: ## all tests of this module, with the race detector
	$(GO) test -race ./...

check: lint vuln test ## what must pass before a commit

lint: ## format, vet and staticcheck, of this module and of interop/
	@unformatted="$$($(SOURCES) | xargs gofmt -l)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	$(STATICCHECK) ./...
	@if [ -f interop/go.mod ]; then set -e; cd interop; echo "interop:"; set -x; $(GO) vet ./...; $(STATICCHECK) ./...; fi

vuln: ## known vulnerabilities in what the program calls
	@if found=$$($(GOVULNCHECK) ./... 2>&1); then echo "govulncheck: $$(echo "$$found" | tail -n 1)"; \
	elif [ "$(VULN)" != require ] && echo "$$found" | grep -Eq 'fetching vulnerabilities|dial tcp'; then \
	echo "govulncheck: skipped, the database of vulnerabilities cannot be reached; VULN=require makes this an error"; \
	else echo "$$found"; exit 1; fi

bench: ## all benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

# A target that fails prints what it found; the input is then below testdata/fuzz.
fuzz: ## each fuzz target for FUZZTIME, FUZZJOBS of them at once
	@$(SOURCES) | grep '_test\.go$$' | xargs grep -o '^func Fuzz[[:alnum:]_]*' | sed 's,/[^/]*:func , ,' | grep '$(FUZZ)' | sort | \
	xargs -P $(FUZZJOBS) -n 2 sh -c 'if found=$$($(GO) test -run "^$$" -fuzz "^$$1$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x -parallel 1 "$$0" 2>&1); \
	then echo "ok   $$0 $$1: $$(echo "$$found" | grep execs | tail -n 1)"; else echo "FAIL $$0 $$1"; echo "$$found" | grep -v "^fuzz: elapsed"; exit 1; fi'

fmt: ## format all Go files
	$(SOURCES) | xargs gofmt -w

dist: ## archives for all platforms and their checksums, in dist/
	$(GO) run ./deploy/pack -go "$(GO)"

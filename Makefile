GO          ?= go
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
SOURCES      = find . -name node_modules -prune -o -name '*.go' -print

.PHONY: build test check lint bench fmt

build: ## the program, in bin/
	$(GO) build -o bin/mcpbridge ./cmd/mcpbridge

test: ## all tests of this module, with the race detector
	$(GO) test -race ./...

check: lint test ## what must pass before a commit

lint: ## format, vet and staticcheck, of this module and of interop/
	@unformatted="$$($(SOURCES) | xargs gofmt -l)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...
	@if [ -f interop/go.mod ]; then set -e; cd interop; echo "interop:"; set -x; $(GO) vet ./...; $(STATICCHECK) ./...; fi

bench: ## all benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

fmt: ## format all Go files
	$(SOURCES) | xargs gofmt -w

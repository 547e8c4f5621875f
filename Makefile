# The commands that people type. Each is one line that works without make, too.
.PHONY: help demo test race check ci fmt generate pages bench build wheel site

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## train a model under differential privacy
	go run ./examples/mnist

test: ## all tests of the Go module
	go test ./...

race: ## the tests with the race detector
	.ci/run race

check: ## what is fast: formatting, generated code, vet, staticcheck
	.ci/run check

ci: ## everything a change must pass
	.ci/run

fmt: ## format the Go and Python code
	gofmt -w .
	cd python && ruff format .

generate: ## generated code, after a change of proto
	go generate ./proto/...

pages: ## the numbers of the pages, after a new result
	go run ./bench pages

bench: ## list the experiments
	go run ./bench

build: ## the programs of a release, into bin
	GOWORK=off CGO_ENABLED=0 go build -trimpath -tags grpcnotrace,noman -ldflags "-s -w" -o bin/ ./cmd/hushgrad ./cmd/hushgrad-draw
	GOWORK=off CGO_ENABLED=0 go build -trimpath -tags grpcnotrace -ldflags "-s -w" -o bin/hushgrad-demo ./examples/mnist
	GOWORK=off CGO_ENABLED=0 go build -C cmd/hushgrad-broker -trimpath -tags grpcnotrace -ldflags "-s -w" -o ../../bin/ .

wheel: ## the Python package for this machine
	python3 -m pip wheel --no-deps -w dist ./python

site: ## the site of the documentation, into out/site
	python3 -m venv out/site-python
	out/site-python/bin/pip install --quiet --requirement docs/site/requirements.txt
	NO_MKDOCS_2_WARNING=1 out/site-python/bin/mkdocs build --strict

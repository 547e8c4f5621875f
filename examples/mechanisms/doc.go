// Package mechanisms has three mechanisms outside hushgrad's module, written with its public packages. Use it
// as a beginning for a mechanism of yours. Start with sparse.go for gradients with few entries that matter, with
// dense.go for reports of all coordinates, or with item.go for one random choice by integer weights.
//
//	GOWORK=off go mod tidy
//	GOWORK=off go test .
//
// mechanisms_test.go checks each of them with package fltest and runs it in the stock server.
package mechanisms

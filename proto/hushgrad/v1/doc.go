// Package hushgradv1 is the wire format: the canonical encoding of a round and
// the gRPC services of the parameter server. Everything but this file is
// generated from the .proto files beside it.
package hushgradv1

//go:generate go run github.com/hushgrad/hushgrad/internal/protogen ../..

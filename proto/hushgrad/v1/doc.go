// Package hushgradv1 is the wire form of a round: the messages that fl encodes. Use it
// through package fl, or to generate a client in another language. Start with
// round.proto; package service below it holds the gRPC services. Everything but this
// file is generated from the .proto file beside it, and nothing here needs gRPC.
package hushgradv1

//go:generate go run github.com/hushgrad/hushgrad/internal/protogen ../.. ../../../python/src/hushgrad/server/descriptors.binpb

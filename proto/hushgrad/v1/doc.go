// Package hushgradv1 is the wire form of a round: the messages that fl encodes. Use it
// through package fl, or to generate a client in another language. Start with
// round.proto. The gRPC services are in service/service.proto and service/issuer.proto; in Go, packages
// server and server/client speak them. Everything but this file is generated from the .proto
// file beside it, and nothing here needs gRPC.
package hushgradv1

//go:generate go run github.com/hushgrad/hushgrad/bench/internal/protogen ../../.. ../../../python/src/hushgrad/server/descriptors.binpb

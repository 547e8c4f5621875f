// Package service is the gRPC interface of the parameter server and of the issuer: a service
// for the clients and one for the operator each. Use it to generate a client in another
// language; in Go, packages server and server/client are simpler. Start with service.proto;
// issuer.proto admits clients.
// Everything but this file and rounds.go is generated from it.
package service

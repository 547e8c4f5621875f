// Package service is the gRPC interface of the parameter server: the service of the
// clients and that of the operator. Use it to generate a client in another language; in
// Go, packages server and server/client are simpler. Start with service.proto.
// Everything but this file is generated from it.
package service

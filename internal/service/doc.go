// Package service is the gRPC interface of the parameter server and of the issuer: a service
// for the clients and one for the operator each. Use it where the module serves or calls them;
// programs use packages server and server/client. Start with proto/hushgrad/v1/service/service.proto;
// issuer.proto beside it admits clients.
// Everything but this file and rounds.go is generated from the two.
package service

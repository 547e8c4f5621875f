package service

import (
	"slices"

	"google.golang.org/grpc"
)

// RegisterRounds adds the clients' service to a gRPC server. SubmitReports of the server answers
// SubmitBatch, too: on the wire, one message each way is a stream of one. So a batch waits for room
// and is bounded in the same way by either of them, and unary calls have small messages only.
func RegisterRounds(r grpc.ServiceRegistrar, server RoundsServer) {
	desc := Rounds_ServiceDesc
	desc.Methods = slices.DeleteFunc(slices.Clone(desc.Methods), func(m grpc.MethodDesc) bool { return m.MethodName == submitBatch })
	reports := desc.Streams[slices.IndexFunc(desc.Streams, func(s grpc.StreamDesc) bool { return s.StreamName == "SubmitReports" })]
	desc.Streams = append(slices.Clone(desc.Streams), grpc.StreamDesc{StreamName: submitBatch, Handler: reports.Handler, ClientStreams: true})
	r.RegisterService(&desc, server)
}

const submitBatch = "SubmitBatch"

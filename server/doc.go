// Package server is the gRPC parameter server. Use it to run federated training over a
// network: it opens rounds, gives clients the round and the current model, counts their
// reports and releases the estimate of a closed round. Start with [New] and [Server.Serve].
//
//	srv, err := server.New(server.Config{})
//	err = srv.Serve(ctx, server.Listeners{Clients: listener}) // until ctx is done
//
// To run inside a gRPC server that exists already, call [Server.RegisterRounds] and
// [Server.RegisterOperator] on it. Package server/client holds the Go clients. Package
// server/servertest runs the server in memory, for examples and tests. The services are
// described in proto/hushgrad/v1/service/service.proto.
//
// # Rounds
//
// A round is open until it has target_reports reports, until its deadline passes or until
// the operator closes it. Below min_reports no estimate is ever released: the operator's
// call is refused and the round stays open. A round whose deadline passes with too few
// reports has expired.
//
// The round says what is estimated beside the mean. A round that asks for a column that
// its mechanism does not estimate is not opened.
//
// A batch of reports is counted whole or not at all. Its key makes a retry harmless: a
// batch that was counted before, in this stream or in an earlier one, is acknowledged
// again and not counted again. This holds after the round has closed, too.
//
// Reports are decoded on several cores: each batch goes to one of GOMAXPROCS aggregators,
// which are merged when the round closes.
//
// # Limits
//
// Everything is in memory: a restart forgets rounds and model. Config bounds the size of a
// message and of the model, the open rounds and the closed ones that are kept.
//
// The server sees which connection a report came from. docs/threat-model.md says what that
// means for privacy in the shuffle model.
package server

// Package server is the gRPC parameter server: it opens rounds, serves them and
// the current model to clients, counts their reports and releases the estimate
// of a closed round.
//
//	srv, err := server.New(server.Config{})
//	err = srv.Serve(ctx, server.Listeners{Clients: listener}) // until ctx is done
//
// To run inside a gRPC server that exists already, call [Server.RegisterRounds]
// and [Server.RegisterOperator] on it. Package server/client holds the Go
// clients; the services are described in proto/hushgrad/v1/service/service.proto.
//
// # Rounds
//
// A round is open until it has target_reports reports, its deadline passes or
// the operator closes it. Below min_reports no estimate is ever released: the
// operator's call is refused and the round stays open, and a round whose
// deadline passes in that state has expired.
//
// A batch of reports is counted whole or not at all. Its key makes a retry
// harmless: a batch that was counted, in this stream or in an earlier one, is
// acknowledged again and not counted again, also after the round has closed.
//
// Reports are decoded on several cores: each batch goes to one of GOMAXPROCS
// aggregators, which are merged when the round closes. Of a round whose mechanism tells
// frequencies and means of key-value pairs the sum is kept until an operator first asks
// for them, and decoded then.
//
// # Limits
//
// Everything is in memory: a restart forgets rounds and model. Config bounds the
// size of a message and of the model, the open rounds and the closed ones kept.
// The server sees which connection a report came from; see docs/threat-model.md
// for what that means for privacy in the shuffle model.
package server

// Package server is the gRPC parameter server. Use it to run federated training over a
// network: it opens rounds, gives clients the round and the current model, counts their
// reports and releases the estimate of a closed round. Start with [New] and [Server.Serve].
//
//	srv, err := server.New(server.Config{})
//	err = srv.Serve(ctx, server.Listeners{Clients: listener}) // until ctx is done
//
// To run inside a gRPC server that exists already, call [Server.RegisterRounds],
// [Server.RegisterOperator] and [Server.RegisterShuffled] on it. Package server/client holds the Go clients. Package
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
// The operator can abort an open round. It ends without an estimate.
//
// A batch of reports is counted whole or not at all. Its key makes a retry harmless: a
// batch that was counted before, in this stream or in an earlier one, is acknowledged
// again and not counted again, as long as the round is open.
//
// In a round with an issuer's key every report comes with a token, is counted on its own, and
// once for its token: the same report with it is a duplicate, another report is refused. Then
// min_reports and target_reports count admitted clients. Package server/admit says what a token
// is. If the round has a shuffler, that one counts clients by tokens under another key, which this
// server never gets.
//
// # Rounds with a shuffler
//
// In a round with a shuffler clients send sealed reports there, and the server gets them from it,
// shuffled and all at once. Config.Seal has the keys that open them; package server/seal says what
// is sealed. A sealed report that cannot be opened, whose token is missing, bad or spent on another
// one, or that the mechanism refuses is left out, and the shuffler learns its position in the
// message. The rest is counted once, however often and in which messages it comes.
//
// Such a round ends when the shuffler says that it has forwarded everything, and not at its
// target or its deadline, which the shuffler keeps. With fewer than min_reports reports that count,
// or an hour after the deadline, it has expired. The operator's request to close it is passed on to
// the shuffler.
//
// A mechanism for two servers needs such a round. This server is the first one: clients seal its
// shares, and the shuffler brings the sum of the second server's shares. The estimate is released
// if both have added the shares of the same reports.
//
// # Cores
//
// Reports are decoded on several cores: each batch goes to one of GOMAXPROCS aggregators,
// which are merged when the round closes.
//
// # What is kept
//
// Config.Journal keeps rounds, reports, keys of batches, estimates and the model. A batch is in
// the journal before it is acknowledged. With a journal on disk a restart loses nothing: rounds
// that were open go on, with all reports that were acknowledged. From time to time a snapshot
// of the aggregators takes the place of the reports. A round that has ended keeps its estimate
// and drops reports, keys and snapshot.
//
// The journal is the truth. When it refuses a batch that was counted, or when a mechanism
// panics, the aggregators are made anew from it.
//
// # HTTP
//
// Listeners.HTTP offers the clients' service, and no other, over HTTP/1.1 and h2, as JSON, Connect and
// gRPC-Web: to curl and browsers. Calls there pass through a gRPC server with the same limits.
//
// # Limits
//
// Config bounds the size of a message and of the model, the open rounds and the closed ones
// that are kept. On each listener it bounds connections, bytes in flight and the time that a call
// waits for its peer. A connection that is closed to keep a bound is UNAVAILABLE for its client,
// and a client that makes no progress gets DEADLINE_EXCEEDED. Compressed messages are refused.
// [Server.Load] says how much there is of all that.
//
// What is not bounded: the units of an open round are in the journal, and with a journal in
// memory their keys take memory. Clients see the count of an open round rounded down, so that nobody sees
// single submissions arrive.
//
// [Server.Ready] says in words whether the server can work, and the health service follows
// it. Config.Metrics has the figures for Prometheus.
//
// # Watching
//
// [Server.Overview] says how the server stands: rounds, totals, models, and the numbers that a
// training run publishes. Package server/dashboard shows it in a browser. The totals, those
// numbers and the worth of estimates are in memory and begin anew with the server.
//
// In a round without a shuffler the server sees which connection a report came from. In a round
// with one it sees what the shuffler shows it. docs/threat-model.md says what that means for
// privacy in the shuffle model.
package server

// Package server is the gRPC parameter server. Use it to run federated training over a
// network: it opens rounds, gives clients the round and the current model, counts their
// reports and releases the estimate of a closed round. Start with [New] and [Server.Serve].
//
//	srv, err := server.New(server.Config{})
//	err = srv.Serve(ctx, server.Listeners{Clients: listener}) // until ctx is done
//
// To run inside a gRPC server that exists already, call [Server.RegisterRounds],
// [Server.RegisterOperator] and [Server.RegisterShuffled] on it. Package server/client holds the Go clients.
// The services are described in proto/hushgrad/v1/service/service.proto.
//
// # Rounds
//
// A round is open until it has target_reports reports, until its deadline passes or until the
// operator closes it. Below min_reports no estimate is ever released: if the operator closes such a
// round, the call is refused and the round stays open. A round whose deadline passes with too few
// reports has expired.
//
// The round says what is estimated beside the mean. A round that asks for a column that
// its mechanism does not estimate is not opened.
//
// The operator can abort an open round. It ends without an estimate.
//
// A batch of reports is counted whole or not at all. The client gives each batch an idempotency
// key. As long as the round is open, a batch with an idempotency key that was counted before, in
// this stream or in an earlier one, is acknowledged again and not counted again. So a retry is
// harmless.
//
// In a round with an issuer's key every report comes with a token, which admits one report. There a
// batch is not counted as a whole: each report is counted or refused by itself. The same report
// with the same token is a duplicate. Another report with a spent token is refused. So min_reports
// and target_reports count admitted clients. A token also assigns the seed of its report, if the
// mechanism has seeds (fl.SeededMechanism): a report with another seed is refused, and its token is not spent.
// Package server/admit says what a token is. In a round
// with a shuffler each client has a second token, under another key of the issuer. The shuffler
// counts clients by the second tokens. This server never gets a second token.
//
// # Rounds with a shuffler
//
// In a round with a shuffler clients send sealed reports to the shuffler. The shuffler forwards
// them to the server in a random order, all at once. Config.Seal has the keys that open them;
// package server/seal says what is sealed. The server leaves out a sealed report that it cannot
// open, or that the mechanism refuses. It also leaves out a report whose token is missing, bad or
// spent on another report, and a report with a seed that its token does not assign. The shuffler learns the position of such a report in its message. Every
// other report is counted once, however often it comes.
//
// The shuffler watches the target and the deadline of such a round. The round ends when the shuffler says
// that it has forwarded everything. With fewer than min_reports reports that count,
// or an hour after the deadline, it has expired. The operator's request to close it is passed on to
// the shuffler.
//
// A mechanism for two servers needs a round with a shuffler. This server is the first server, and
// the shuffler is the second. A client seals the first share of its report to this server. The
// shuffler adds up the second shares and sends their sum. The estimate is released only if both
// servers have added the shares of the same reports.
//
// # Issuers
//
// An [Issuer] gives clients the tokens. Each round has two keys of its own, which the operator asks
// for before it opens the round (package server/admit says why two). The operator makes the keys of many rounds and opens
// the rounds ahead of time, so that clients fetch the tokens of all of them in one call. Keys end when they expire or are
// dropped. Their private halves and the record of who had a token are then deleted from the journal.
//
// Private keys and the record of who had a token are in the issuer's journal, unencrypted. Whoever
// reads its files can make tokens of the open rounds, and can test who had one. Keep the files on a
// disk and in a directory that only the issuer reads. Clients stand in the record by an HMAC of
// their identity and by the SHA-256 of the message that was signed. The HMAC's key belongs to the
// round and is deleted with it. A journal on disk does not overwrite deleted bytes at once. Until
// then they can be read in its files.
//
// The issuer learns who asked for a token, for what round, and when. It learns the address, and of a
// browser the headers. Tokens are blind signatures: the
// issuer cannot tell which client a spent token was made for. It sees no report. It can make any
// number of tokens itself: server and shuffler trust it to admit one report for each client.
//
// # Cores
//
// Reports are decoded on several cores: each batch goes to one of GOMAXPROCS aggregators,
// which are merged when the round closes.
//
// # What is kept
//
// Config.Journal keeps rounds, reports, idempotency keys, estimates and the model. A batch is in
// the journal before it is acknowledged. With a journal on disk a restart loses nothing: rounds
// that were open go on, with all reports that were acknowledged. From time to time a snapshot
// of the aggregators takes the place of the reports. A round that has ended keeps its estimate
// and drops reports, idempotency keys and the snapshot.
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
// Config.Metrics shows how much there is of all that.
//
// The journal of an open round is not bounded. It keeps the idempotency key of every batch, or in a
// round with tokens one for every report. With a journal in memory these keys take memory. Clients see the
// count of an open round rounded down, so that nobody sees single submissions arrive.
//
// [Server.Ready] says in words whether the server can work, and the health service follows
// it. Config.Metrics has the figures for Prometheus.
//
// # Watching
//
// [ServeDashboard] shows in a browser how the server stands: rounds, totals, models, and the numbers
// that a training run publishes. The totals, these numbers and how estimates compare with their
// errors are in memory. A restart forgets them.
//
// In a round without a shuffler the server sees which connection a report came from. In a round
// with an honest shuffler the server sees reports in a random order, and not who sent them.
// docs/threat-model.md says what that means for privacy in the shuffle model.
package server

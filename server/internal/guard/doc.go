// Package guard bounds what the peers of a gRPC server can make it hold. Use it for every
// listener that strangers reach. Start with [New], then [Guard.Options] and [Guard.Listener].
//
// # What is bounded
//
// Two budgets bound memory. Bytes that a peer sent and that are no complete message yet are
// held, whether a handler sees them or not: parts of messages of unary calls, DATA frames of one
// byte, streams that nobody reads. Limits.HeldBytes bounds their sum over all connections. An
// open stream counts as streamBytes. Complete messages that are decoded or handled are bounded
// by Limits.DecodingBytes; who comes later waits, and the work in front of him does not wait for
// any peer. Compressed messages are refused.
//
// # Who has to go
//
// When more is held than the budget allows, the connection with the largest product of bytes and
// age is closed, where age is how long its oldest bytes have been held. Who sends a message at
// once and completely holds it for milliseconds; who sends parts of messages, to fill the
// memory, holds them longest. So an attacker's connections go first as long as the attacker
// cannot send the whole budget in the time that an honest message takes.
//
// When one connection too many comes, an old one is closed: of some that are drawn at random,
// one that never completed a message, or else one without a call in progress. To keep the new
// one waiting, as golang.org/x/net/netutil.LimitListener does, would let the first comers lock
// out everybody else.
//
// A closed connection is the status UNAVAILABLE for the client's calls, which it tries again.
//
// # Whose turn it is
//
// The server spends its processor on connections in turn. A turn is at most readBytes of frames
// (with TLS: a record, 16 KiB) and at most one new call. So a connection that begins calls and
// resets them delays others by one call at a time, not by all the calls that it has sent.
//
// # What has to make progress
//
// A call whose handler waits for its peer for Limits.Progress, to send a message or to take one,
// ends with DEADLINE_EXCEEDED. A write that a peer does not take for that long closes the
// connection. Handshakes have handshakeTimeout.
//
// # HTTP
//
// [Guard.ServeHTTP] and [Guard.Handler] keep the same bounds where net/http reads the connections and
// passes calls to the gRPC server. A body counts for what becomes of it before gRPC sees a message.
package guard

// Package shuffler runs the party between clients and a server that hides who sent what. Use it
// where clients should not have to trust the server with more than the shuffled reports of a
// round. Start with [New] and [Shuffler.Serve].
//
// # What it does
//
// It answers the clients' service as the server does, and passes on the server's rounds and model.
// Reports come sealed to the server's key (package server/seal). It keeps them until a round has at
// least fl.Round.MinReports of them, and at least Config.Floor, and then target_reports are there,
// the deadline has come, or the operator closes the round. Then it forwards all of them, once, in a
// random order, and deletes them. A round with too few reports at its deadline is deleted.
//
// In a round of a mechanism for two servers it is the second one: it adds up the second shares of
// the reports that the server has counted, and sends the sum.
//
// # What it sees
//
// It sees who takes part in which round, and when. It does not see what a report says. Together with
// the server it learns who sent what.
//
// # What it counts
//
// In a round with tokens each sealed report comes with an outer token, under fl.Round.OuterIssuerKey.
// The shuffler verifies it and keeps the report and the fact that the token is spent in one write. The
// outer token never leaves the shuffler. So the floor, min_reports and target_reports count admitted
// clients. Without a good token nothing is kept. An admitted client can still seal something else
// than a report, which the server rejects: it takes its own place, and no other one.
//
// In a round without tokens the shuffler cannot tell reports from random bytes. Whoever reaches it makes
// the crowd look larger than it is. It keeps up to Config.MaxReports.
//
// # Exactly once
//
// A report is acknowledged after it is on disk. A copy of it is known by its SHA-256 and counts as
// a duplicate, and its token is not looked at. Another report with a spent token is refused.
// Forwarding starts over after a crash or a failure of the network, until the server has all
// reports, and the server counts each one once. From the moment the shuffler decides to
// forward a round, which is on disk before the first report leaves, it accepts nothing more for it.
// It has one description for a round id, the first one that the server showed: clients who were
// shown another one are refused.
//
// # What is on disk
//
// The key of a report in the journal is an HMAC of its SHA-256, and the value is encrypted. A spent
// token is an HMAC of the token's SHA-256, with an empty value. The keys for all of that come from a
// secret of the round. The order in which reports leave is given by another keyed function of the
// first key. No address, no time and no number is stored with a report.
// The journal's files show in which order its entries came. While a round lasts, whoever has the
// secret can tie entries to sealed reports. The secret is a file of its own (Config.Secrets).
// It is overwritten and removed when the round ends. Without it, what is left in the journal's
// files cannot be tied to any sealed report, nor to its place among those that were forwarded. A
// file system or a disk that keeps old versions of a file may keep the secret: a directory in
// memory forgets it surely, and loses the reports of open rounds when the machine restarts.
package shuffler

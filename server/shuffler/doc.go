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
// It sees who takes part in which round, and when. It does not see what a report says. It cannot
// check tokens, which are sealed, too. So whoever fills a round with made-up reports makes the
// crowd look larger than it is: the floor counts sealed reports, and the server alone finds out how
// many of them were good. Together with the server it learns who sent what.
//
// # Exactly once
//
// A report is acknowledged after it is on disk. A copy of it is known by its SHA-256 and counts as
// a duplicate. Forwarding starts over after a crash or a failure of the network, until the server
// has all reports, and the server counts each one once. From the moment the shuffler decides to
// forward a round, which is on disk before the first report leaves, it accepts nothing more for it.
// It has one description for a round id, the first one that the server showed: clients who were
// shown another one are refused.
//
// # What is on disk
//
// The key of a report in the journal is an HMAC of its SHA-256, and the value is encrypted. The keys
// for both come from a secret of the round. The order in which reports leave is that of another
// keyed function of the first key. No address, no time and no number is stored with a report.
// The journal's files show in which order its entries came. While a round lasts, whoever has the
// secret can tie entries to sealed reports. The secret is a file of its own (Config.Secrets).
// It is overwritten and removed when the round ends. Without it, what is left in the journal's
// files cannot be tied to any sealed report, nor to its place among those that were forwarded. A
// file system or a disk that keeps old versions of a file may keep the secret: a directory in
// memory forgets it surely, and loses the reports of open rounds when the machine restarts.
package shuffler

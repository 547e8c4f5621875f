// Package shuffler implements the shuffler: a service between clients and a server that hides from
// the server which client sent which report. Use it where the server must not learn that, and where
// another party runs the shuffler, which does not work together with the server. Start with [New]
// and [Shuffler.Serve].
//
// # What it does
//
// The shuffler implements the same service for clients as the server, and passes on the server's
// rounds and model. Clients seal each report: they encrypt it with the server's public key (package
// server/seal), and the shuffler cannot read it. A round is due when it has target_reports reports,
// when its deadline has come, or when the operator closes it. A due round is forwarded only with at
// least fl.Round.MinReports reports, which the server sets, and at least Config.Floor, which the
// shuffler's operator sets. The shuffler then forwards all of them, once, in a random order, and
// deletes them. If a round has too few reports at its deadline, the shuffler deletes them and
// forwards nothing.
//
// In a round of a mechanism for two servers the shuffler is the second server. Second shares are sealed to one of
// Config.Keys, and the round names the key (fl.Round.ShareKey). The shuffler opens each share when it comes, and refuses
// one that was changed, or was made for another report. It adds up the shares of the reports that the first server has
// counted, adds the noise, and sends the first server the sum.
//
// # What it sees
//
// It sees who takes part in which round, and when. It does not see what a report says. If the
// shuffler and the server work together, they learn who sent which report, and only the local ε of
// each report is left. In a round for two servers nothing is left: together they read the
// gradients.
//
// # What it counts
//
// In a round with tokens a client has two tokens. One is inside the seal, for the server. The other
// one travels outside the seal, under fl.Round.OuterIssuerKey: the outer token. The shuffler
// verifies the outer token. One write stores the report and marks the token as spent. The outer
// token never leaves the shuffler. So the floor, min_reports and target_reports count admitted
// clients. Without a good token nothing is kept. An admitted client can still seal something that
// is no report. The shuffler counts it, and the server rejects it. Such a client uses up one place
// of min_reports and target_reports: one honest report fewer hides the others, and the central ε is
// as much larger.
//
// In a round without tokens the shuffler cannot distinguish reports from random bytes. A party that
// reaches the shuffler can send any number of them. The floor, min_reports and target_reports can
// then be met by fewer clients than they say, and the central ε does not hold. The shuffler keeps
// at most Config.MaxReports reports of such a round.
//
// # Exactly once
//
// A report is acknowledged after it is on disk. A copy of it is known by its SHA-256. The copy is
// acknowledged, and neither stored nor is its token looked at. Another report with a spent token is
// refused. Forwarding starts over after a crash or a failure of the network, until the server has
// all reports, and the server counts each one once. The decision to forward a round is on disk
// before the round's first report leaves. From then on the shuffler accepts no more reports for the
// round. The shuffler keeps one description for each round id: the first description that the
// server showed it. A server could show clients different descriptions under one id: the shuffler
// refuses a client that was shown another one.
//
// # What is on disk
//
// The journal has an entry for each sealed report. The entry's key is an HMAC of the report's
// SHA-256. Its value is the sealed report, encrypted once more. A spent token has an entry, too:
// its key is an HMAC of the token's SHA-256, and its value is empty. Each round has a secret. All
// keys of these HMACs and of the encryption come from it. Reports leave in the order of another
// HMAC, of the entries' keys. No entry has an address, a time or a number. Whoever reads
// the journal's file again and again sees in which order its entries came. While a round lasts, whoever has the secret can tie entries to
// sealed reports. The secret is a file of its own (Config.Secrets). It is overwritten and removed
// when the round ends. Without it, what is left in the journal's files cannot be tied to any sealed
// report, nor to its place among those that were forwarded. A file system or a disk that keeps old
// versions of a file may keep the secret: in a directory in memory it is reliably erased, and the
// reports of open rounds are lost when the machine restarts.
package shuffler

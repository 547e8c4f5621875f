// Package seal encrypts reports to the server that counts them, so that the shuffler in between
// cannot read them. Use it in a client that sends reports through a shuffler and in a server
// that gets them. Start with [NewItemSealer] for a client and with [OpenKeys] for a server.
//
// # What a sealed report is
//
// A sealed report is one single-shot message of HPKE (RFC 9180), base mode: the encapsulated key
// and then the ciphertext. Its info is "hushgrad sealed report" and the 32 bytes of the round's
// digest, its aad is empty. The plaintext is the report and then the token, if the round asks for
// one. In a round of a mechanism for two servers it is the share of the first server, the tag of the second
// server's share and then the token. [FormatOf] has the lengths.
//
// The second server's share follows, sealed to the second server: one more message of HPKE under
// fl.Round.ShareKey. Its info is "hushgrad sealed share", the round's digest, and the SHA-256 of the
// sealed report before it. Its plaintext is 32 random bytes, which are the key of the share's tag, and
// the share. A sealed share opens behind its own sealed report alone. So a copy of it behind another
// report is refused, and a share counts once.
//
// The tag is the share's HMAC-SHA256 under its key. The second server computes the tag of the share that
// it opened, and forwards the tag. The first server compares it with the tag in the seal. If the two
// differ, somebody put another share there, and the report does not count. The key does not reach the
// first server. Without the key a tag shows nothing of the share, if HMAC-SHA256 is a pseudo-random
// function.
//
// Every sealed report of a round has the same length: rounds whose reports have several lengths
// are refused. A sealed report cannot be changed into another one that opens. So its SHA-256 is
// its id ([ID]), and a copy is recognized without opening it.
//
// # Keys
//
// fl.Round.SealKey names the algorithms and holds the server's public key, and fl.Round.ShareKey the
// second server's. There are two [Suite]s:
//
//	x25519            DHKEM(X25519), HKDF-SHA256, AES-128-GCM      48 bytes more than the plaintext
//	mlkem768-x25519   MLKEM768-X25519, HKDF-SHA256, AES-256-GCM  1136 bytes more
//
// The second one also resists an attacker who keeps sealed reports until there are quantum
// computers. A server keeps its keys in a directory, one file for each. New rounds name the newest
// one. A key is needed until the last round that names it has ended: then its file can be removed,
// and what was sealed to it stays sealed for ever. A client knows a key by its [Fingerprint].
//
// # What it hides
//
// The shuffler sees the round, the number of sealed reports and their length, which is the same for
// all. It does not see what they say. As the second of two servers it sees the second shares. The server that opens sealed reports sees the reports, their
// tokens and whatever the shuffler forwards beside them. Package server/shuffler forwards nothing
// beside them in a round of a mechanism for one server. In a round of a mechanism for two servers
// it forwards the tag of each second share, and the sum of the second shares. The key is not fresh
// for each round: a party that takes the server's private key and has recorded sealed reports reads
// them. Reports that come from the same client have nothing in common.
package seal

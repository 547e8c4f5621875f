// Package issuer gives each admitted client one token under each key of a round. Use it to run the party
// that knows who may take part; that party should be another one than the server. Start with
// [New] and [Issuer.RegisterClients].
//
// # Keys
//
// Every round has two keys of its own (package admit says why). The operator of a round asks for them
// with [Issuer.CreateKey] before the round is opened, and puts the first one into fl.Round.IssuerKey.
// In a round with a shuffler the operator puts the second one into fl.Round.OuterIssuerKey. Keys
// end when they expire or are dropped. Their private halves and the record of who had a token are
// then deleted from the journal.
//
// # What is kept
//
// Private keys and the record of who had a token are in the journal, unencrypted: whoever
// reads its files can make tokens of the open rounds, and can test who had one. Keep the files on
// a disk and in a directory that only the issuer reads. Clients stand in the record by an HMAC
// of their identity and by the SHA-256 of the message that was signed. The HMAC's key belongs to
// the round and is deleted with it. A journal on disk overwrites what is deleted in its own
// time.
//
// # What the issuer learns
//
// The issuer learns who asked for a token, for what round, and when. It learns the address, and of a
// browser the headers. It does not learn who spent the token, and sees no report. It can make any
// number of tokens itself: server and shuffler trust it to admit one report for each client.
//
// # Exactly once
//
// A signature is answered after the record of it is durable. The same message again gets the
// same signature, so that an answer that was lost can be asked for again. Another message of the
// same client under the same key is refused. After a write to the journal that may have failed,
// the issuer signs nothing until it is started anew, because it does not know what the record
// says.
package issuer

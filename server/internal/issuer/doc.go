// Package issuer gives each admitted client one token under each key of a round. Use it through
// package server's Issuer, which says what is kept and what an issuer learns. Start with [New] and
// [Issuer.RegisterClients].
//
// # Keys
//
// Every round has two keys of its own (package admit says why). The operator of a round asks for them
// with [Issuer.CreateKey] before the round is opened, and puts the first one into fl.Round.IssuerKey.
// In a round with a shuffler the operator puts the second one into fl.Round.OuterIssuerKey. Keys
// end when they expire or are dropped. Their private halves and the record of who had a token are
// then deleted from the journal.
//
// # Many messages in one call
//
// A client may ask for the signatures of [MaxMessages] messages in one call, each under another key: for both keys of a round and for
// the rounds to come. All of them are signed or none. The processors share the work, and calls at the same time share
// a write to the journal.
//
// # Exactly once
//
// A signature is answered after the record of it is durable. The same message again gets the
// same signature, so that an answer that was lost can be asked for again. Another message of the
// same client under the same key is refused. After a write to the journal that may have failed,
// the issuer signs nothing until it is started anew, because it does not know what the record
// says.
package issuer

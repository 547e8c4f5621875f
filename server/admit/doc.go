// Package admit makes a server count one report for each admitted client of a round. Use it
// in a server or a shuffler that spends tokens, and in a client that fetches them. Start with [NewVerifier]
// for a server, with [NewRequest] for a client, and with package server's Issuer for the party that
// admits clients.
//
// # What a token is
//
// A token is the one of RFC 9578 (Privacy Pass), type 2: a blind RSA signature
// (RSABSSA-SHA384-PSS-Deterministic of RFC 9474, 2048 bits, salts of 48 bytes) over
//
//	token_type 2 bytes | nonce 32 | challenge_digest 32 | token_key_id 32
//
// followed by the signature of 256 bytes: [TokenBytes] in all. The nonce is the client's and
// random. challenge_digest is the SHA-256 of a TokenChallenge with issuer_name [IssuerName],
// the digest of the round as its redemption_context, and an empty origin_info: the digest
// covers the id of the round and everything else that could stand there. token_key_id is the
// SHA-256 of the key: [fl.Round.IssuerKey], or [fl.Round.OuterIssuerKey].
//
// # Two tokens in a round with a shuffler
//
// A client of a round with a shuffler gets a token under each of two keys. The first one is sealed with its
// report, and the server spends it. The outer one travels beside the sealed report, and the shuffler spends
// it. A server that checked all tokens itself could let its own reports through, and a shuffler that checked
// none would count whatever reaches it. Both tokens are blind, under different keys and with
// different nonces: nothing in one leads to the other one.
//
// # One key for each round
//
// The issuer sees a blinded message. It cannot see for which round that is. If one key served
// many rounds, a client could ask once for each of m rounds, blind the challenge of one and the
// same round each time, and spend m tokens there
// (TestOneKeyForManyRoundsGivesManyTokensInOne does it). So a round has keys of its own, and
// the issuer signs once for each client and key. Keys thereby live no longer than their round.
//
// A client does not know keys beforehand. It knows the issuer by the connection to it, and an
// issuer signs under keys of its own only, so that a server cannot make up a key.
//
// # What it hides
//
// For every signing that the issuer saw and every token of the same key there is exactly one
// blinding factor that connects them, and the client draws it uniformly
// (TestEverySigningFitsEveryToken computes them). So a token says which key it belongs to
// and nothing about which signing it came from, also to an issuer and a server that put their
// records together, and whatever computing power they have.
//
// What surrounds the token can still connect the two: a client that spends it at once from the
// same address, a round for which few clients ask, or a server that shows every client a Round of
// its own. A round's digest is the same for all clients of an honest server. Compare it
// over another channel where that matters.
//
// The client's arithmetic is math/big's, whose running time depends on the numbers.
package admit

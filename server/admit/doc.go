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
// A key for an epoch of many rounds would need something else in place of the key. A bound on the client's tokens in an epoch is no
// bound in a round: the client spends all of them in one. A bound on a round's tokens in all does not say whose they are.
// Partially blind RSA signs the round as public metadata, which the issuer sees. Its verifier takes a power with an exponent of
// 1024 bits in place of 17, its keys need safe primes, and RFC 9578 has no token type for it. To make two keys for each
// round costs less: the issuer makes them ahead, a fraction of a second for each round.
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
// # Tokens assign seeds
//
// A report of an [fl.SeededMechanism] has the [Seed] of its token, and a server counts no other one. So a client fetches
// its token first, and a client who lies cannot search seeds for one that suits. The seed needs no key that is
// published after the tokens were issued. The issuer's signature does what such a key would do:
//
//   - Before the issuer has signed, the client knows none of its seeds. A seed is a hash of the signature. Who could compute the
//     signature of a nonce and a salt of his own could make tokens without the issuer. SHA-256 stands for a random oracle here.
//   - Of one signing comes one token. A signature is one number for each nonce and salt, and both are in what was
//     blinded. To finish a token with another salt is to forge one, because the encoded message is a hash of both: it
//     takes another root modulo the key, which the one-more RSA assumption denies. No byte of a token is left to choose: those before
//     the signature are signed, and the signature is below the modulus (TestATokenHasOneForm).
//   - The issuer signs one message for each client and key.
//
// So a client has one seed for each admission. It can look at the seed and send nothing. A party with c identities has c
// seeds, and may leave out the ones that suit it least. The issuer itself makes any number of tokens, and so
// chooses seeds. A seed is of 32 bits: clients have the same one by chance as often as seeds that they draw.
//
// An honest client's promise does not change. A report of an fl.SeededMechanism is ε-differentially private for every seed, and
// the token was there before the report. The central ε rests on blindness: a seed is on the report for everybody to see. If
// the issuer knew which token it had signed for whom, it would find each client's report among the shuffled ones.
//
// # Tokens ahead of a round
//
// A client can have the tokens of many rounds signed in one call, before it reports in any of them. Each message is blinded by
// a factor of its own and signed under another key. So what was said about one signing holds for each of them, and tokens of
// two rounds have nothing in common. The time of the call says nothing about when a token is spent, or whether. The issuer
// sees for which rounds a client asks: a client is hidden in a round among the clients that asked for that round.
//
// What surrounds the token can still connect the two: a client that spends it at once from the
// same address, a round for which few clients ask, or a server that shows every client a Round of
// its own. A round's digest is the same for all clients of an honest server. Compare it
// over another channel where that matters.
//
// The client's arithmetic is math/big's, whose running time depends on the numbers.
package admit

// Package client talks to the parameter server of package server. Use it in a program that
// takes part in federated training, or in one that runs it. Start with [New] for a client
// and with [NewOperator] for the party that runs the rounds.
//
// A [Client] fetches a round, builds the round's mechanism itself, checks the guarantee
// against its own policy and only then encodes:
//
//	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 5}})
//	p, err := c.Join(ctx, "") // the newest open round
//	report, err := p.Encode(nil, gradient, nil)
//	receipt, err := p.Submit(ctx, [][]byte{report})
//
// A client with a ledger that was killed in the middle joins again and sends what it had encoded,
// the same bytes, so that it is counted once:
//
//	if report := p.Unfinished(); report != nil {
//		receipt, err := p.Submit(ctx, [][]byte{report})
//	}
//
// A round that asks for tokens needs a connection to its issuer (Options.Issuer). The issuer
// learns that the client takes part, and the server learns that somebody does whom the issuer
// admits. They see the same client one after the other if Submit fetches the token: call
// FetchToken some time before. In a round with a shuffler a client has a second token, and the
// shuffler learns by it that somebody takes part whom the issuer admits.
//
// # Rounds with a shuffler
//
// A client of a round with a shuffler has its connection to the shuffler. Every report is sealed to the
// server, so that the shuffler sees who sends and the server sees what is sent. The policy names the
// shuffler and the server's key. Only then does a central guarantee hold, which says what the server
// learns from the shuffled reports of the round:
//
//	policy := fl.Policy{Shuffled: &fl.ShuffledPolicy{
//		Shufflers: []string{"shuffler.example"}, SealKeys: [][32]byte{fingerprint},
//		MaxEpsilonLocal: 5, MaxEpsilon: 1, MaxDelta: 1e-6,
//	}}
//	local := p.Guarantee()       // also against a server and a shuffler that work together
//	central, ok := p.Central()   // against the server, if they do not
//
// In every other round the local guarantee is all there is. A ledger charges both guarantees.
//
// An [Operator] opens and closes rounds, publishes models and reads estimates.
//
// conn is a grpc.ClientConn of the caller's making, so that transport security,
// name resolution and interceptors stay the caller's choice.
package client

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
// A client may be killed in the middle of a round. A client with a ledger joins again and sends the
// same bytes, which the ledger has kept. So its report is counted once. The program does that:
//
//	if report := p.Unfinished(); report != nil {
//		receipt, err := p.Submit(ctx, [][]byte{report})
//	}
//
// A round that asks for tokens needs a connection to its issuer (Options.Issuer). The issuer learns
// which client takes part. From the token the server learns that the issuer admits the sender, and
// not who the sender is. In a round with a shuffler a client fetches a second token. From it the
// shuffler learns that the issuer admits the sender. The program fetches tokens before it encodes, because a token
// assigns its report's seed:
//
//	err := p.FetchToken(ctx) // does nothing in a round without an issuer
//	report, err := p.Encode(nil, gradient, nil)
//
// If Submit follows at once, the issuer and the party that gets the report see the client within moments, and can match the
// two times. Call FetchToken some time before Submit. [Client.FetchTokens] fetches the tokens of many open rounds in one call.
//
// # Rounds with a shuffler
//
// A client of a round with a shuffler connects to the shuffler, and not to the server. It seals
// every report to the server. The shuffler sees who sends. The server sees what is sent. A central
// guarantee says what the server learns from the shuffled reports of the round. A client has a
// central guarantee only if its policy names the shuffler and the server's key:
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

// Package fl is the vocabulary of hushgrad: rounds, mechanisms, aggregators, estimates
// and guarantees. Use it to run a mechanism inside your own client or server, or to write
// a mechanism of your own. Start with [Round], [Open] and [Complete].
//
// A [Round] is the complete public description of one aggregation: which
// mechanism with which parameters, how many coordinates, what privacy one
// report promises and how many reports must come together. From the same Round
// a client and a server build the same [Mechanism]:
//
//	m, err := fl.Open(round)
//	report, err := m.Encode(nil, gradient, nil) // client
//
//	agg := m.NewAggregator() // server
//	err = agg.Add(report)
//	estimate, err := agg.Estimate()
//
// A client never has to trust the server's word on privacy: it checks
// m.Guarantee() against a [Policy] of its own before it encodes.
//
// # Plugging a mechanism in
//
// Implement [Mechanism], [Aggregator] and a [Factory], and call [Register]
// from an init function; importing that package is then enough to run the
// mechanism in the stock server. Package fl/fltest checks that it keeps the contract.
// Optional interfaces add to the contract without widening it:
//
//	Completer           chooses parameters that a round leaves open
//	ColumnLister        estimates more than the mean
//	ReportSizer         has reports of one size
//	Coster              sends many messages in one report
//	BatchAdder          counts many reports at once
//	Float32Mechanism    takes gradients of float32 as they are
//	SparseMechanism     takes ternary vectors
//	KeyValueMechanism   takes key-value pairs
//	TieredMechanism     offers clients a choice of guarantees
//	SharedMechanism     splits reports between two servers
//	Amplifier           is stronger when reports are shuffled
//	Adviser             notices poor parameters
//
// # Randomness
//
// Private randomness is an argument everywhere, and nil stands for a fresh [NewRand].
// Public randomness (hash functions, rotation signs) is derived from
// Round.PublicSeed by [Round.PublicKey].
package fl

// Package fl is the vocabulary of hushgrad and the contract its parts keep.
//
// A [Round] is the complete public description of one aggregation: which
// mechanism with which parameters, how many coordinates, what privacy one
// report promises and how many reports must come together. From the same Round
// a client and a server build the same [Mechanism]:
//
//	m, err := fl.Open(round)
//	report, err := m.Encode(nil, gradient, fl.NewRand()) // client
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
// mechanism in the stock server. Optional interfaces add to the contract
// without widening it: [Completer], [ReportSizer], [Coster], [BatchAdder],
// [SparseMechanism], [SparseAggregator], [KeyValueMechanism],
// [KeyValueAggregator], [TieredMechanism], [Amplifier] and [Adviser].
//
// # Randomness
//
// Private randomness is an argument everywhere, and [NewRand] is the source to
// use. Public randomness (hash functions, rotation signs) is derived from
// Round.PublicSeed by [Round.PublicKey].
package fl

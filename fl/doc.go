// Package fl encodes gradients as differentially private reports and estimates their mean. Use it to
// run a mechanism inside your own client or server, or to write a mechanism of your own. Start with
// [Round]. Call [Complete] once where a round is made, and then [Open] wherever it is used.
//
// A [Round] is the public description of one aggregation: which mechanism with which parameters,
// how many coordinates, the (ε, δ) that a report guarantees, and the least number of reports from which
// anything is estimated. A new Round may lack parameters. [Complete] chooses them, and [Open] needs
// a Round that lacks none. From the same Round a client and a server build the same [Mechanism]:
//
//	round, _, err := fl.Complete(round) // the operator, once
//
//	m, err := fl.Open(round)
//	report, err := m.Encode(nil, gradient, nil) // client: appends to nil, with fresh private randomness
//
//	agg := m.NewAggregator() // server
//	err = agg.Add(report)
//	estimate, err := agg.Estimate()
//
// A client checks m.Guarantee() against its own [Policy] before the client encodes. The check is
// enough for a local guarantee. A central guarantee also needs an honest shuffler, which no check
// of a Round can show.
//
// # Plugging a mechanism in
//
// Implement [Mechanism], [Aggregator] and a [Factory], and call [Register] from an init function;
// importing that package is then enough to run the mechanism in the stock server. Package fl/count
// has the part of an Aggregator that all mechanisms share. Package fl/fltest checks that a
// mechanism does what the comments of Mechanism and Aggregator demand: the contract. The folder
// examples/mechanisms is a module with three mechanisms to begin with.
//
// All of these interfaces are optional. A Factory may implement Completer and ColumnLister. An
// Aggregator may implement BatchAdder. A Mechanism may implement any of the others:
//
//	Completer           chooses parameters that a round leaves open
//	ColumnLister        estimates more than the mean, such as frequencies: each is a column
//	ReportSizer         has reports of one size
//	Coster              says how many messages and bytes a report has
//	BatchAdder          counts many reports at once
//	Float32Mechanism    takes gradients of float32 as they are
//	SparseMechanism     takes ternary vectors
//	KeyValueMechanism   takes key-value pairs
//	RecordMechanism     sums the gradients of a client's many records
//	TieredMechanism     offers clients a choice of guarantees
//	SeededMechanism     has a public seed in each report, which a token may assign
//	SharedMechanism     splits each report into two parts, one for each of two servers
//	Amplifier           has a smaller central ε when reports are shuffled
//	Adviser             notices poor parameters
//
// # Randomness
//
// Whatever needs private randomness takes it as an argument, and nil stands for a fresh [NewRand],
// which the operating system seeds. Public randomness, such as hash functions and the signs of a
// rotation, is derived from Round.PublicSeed by [Round.PublicKey]. That key has nothing to do with
// public-key cryptography.
package fl

package fl

import "math/rand/v2"

// KeyValue is one pair that a client holds: a key below Round.Dim and a value in
// [−1, 1]. To hold a key with the value 0 is not the same as not to hold it.
type KeyValue struct {
	Key   uint32
	Value float64
}

// KeyValueMechanism is a Mechanism over sets of key-value pairs. Its Encode takes
// the non-zero coordinates of a gradient as pairs, in units of Round.Scale and
// clipped to [−1, 1].
type KeyValueMechanism interface {
	Mechanism
	// EncodeKeyValues appends one report of pairs with distinct keys, in increasing
	// order. It takes time in proportion to the pairs and to what is sent, not to
	// Round.Dim.
	EncodeKeyValues(dst []byte, pairs []KeyValue, rng *rand.Rand) ([]byte, error)
}

// KeyValueAggregator tells more about key-value pairs than their mean.
type KeyValueAggregator interface {
	Aggregator
	// KeyValues decodes what was counted. Before the first report it returns an
	// error wrapping ErrNoReports.
	KeyValues() (*KeyValueEstimate, error)
}

// KeyValueEstimate is what a key-value round tells, per key.
type KeyValueEstimate struct {
	// Frequency is the fraction of clients that hold the key, unbiased.
	Frequency Series
	// Mean is the sum of the values of the clients that hold the key, over all
	// clients: unbiased. Mechanisms that cannot tell it leave it empty.
	Mean Series
	// Conditional is the mean value among the clients that hold the key, by the
	// mechanism's own corrected estimator: in [−1, 1] and biased towards 0 for
	// rare keys.
	Conditional []float64
	Reports     int64
	Mechanism   string
	Guarantee   Guarantee
}

// CheckKeyValues returns a *ParamError unless pairs is what
// KeyValueMechanism.EncodeKeyValues takes: keys below dim, strictly increasing, and
// values in [−1, 1].
func CheckKeyValues(pairs []KeyValue, dim int) error {
	for i, p := range pairs {
		switch {
		case int64(p.Key) >= int64(dim):
			return Invalid("pairs", p.Key, "keys must be below dim = %d", dim)
		case i > 0 && pairs[i-1].Key >= p.Key:
			return Invalid("pairs", p.Key, "keys must be strictly increasing, pair %d is not", i)
		case !(p.Value >= -1 && p.Value <= 1):
			return Invalid("pairs", p.Value, "values must be in [-1, 1], that of key %d is not", p.Key)
		}
	}
	return nil
}

package fl

import "math/rand/v2"

// ParamRecords is the parameter of a round whose reports are sums of records, see RecordMechanism: the most records
// that all clients have together, an integer in [1, 2^32 − 1].
const ParamRecords = "records"

// AboutRecords says whether the reports of a round are sums of records. Its guarantee is then about one
// record, and not about all records of a client.
func (r Round) AboutRecords() bool { return r.Params.Has(ParamRecords) }

// RecordMechanism is implemented by mechanisms whose clients may hold many records each, such as hospitals. A
// client then sends one report of the sum of its records. The guarantee is about one record, and the
// estimate is the mean over the records of all clients.
type RecordMechanism interface {
	Mechanism
	// NewRecordSum returns the sum of no records. rng is as in Encode, for all of the sum. The error is a
	// *ParamError, wrapped, in a round whose reports are about clients.
	NewRecordSum(rng *rand.Rand) (RecordSum, error)
}

// RecordSum is the sum of one client's records. It takes the memory of a gradient, however many records
// there are. It is not safe for concurrent use.
type RecordSum interface {
	// Add adds the gradient of one record, of length Round.Dim, which is clipped by itself. A gradient with NaN or
	// Inf counts as zero: the number of records is public, and must not depend on what is in them. Another length
	// is a *ParamError, wrapped, and changes nothing. So is a record more than the round has room for.
	Add(grad []float64) error
	// Records is the number of records, which the report shows.
	Records() int
	// Append appends the report, as Encode does. It returns an error, and dst as it was, without a record, and
	// when it is called again: two reports of one sum would count its records twice.
	Append(dst []byte) ([]byte, error)
}

package rivals

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// PrivKVPoint is PrivKV, PrivKVM or KVUE with what its accuracy depends on.
type PrivKVPoint struct {
	Mechanism string
	Dim       int
	Epsilon   float64
	Rounds    int // real rounds of "privkvm"; 1 for the others
}

func (p PrivKVPoint) protocol() (*protocol, error) {
	switch {
	case p.Mechanism != PrivKV && p.Mechanism != PrivKVM && p.Mechanism != KVUE:
		return nil, fl.Invalid("mechanism", p.Mechanism, "must be %s, %s or %s", PrivKV, PrivKVM, KVUE)
	case p.Dim < 1 || p.Dim > fl.MaxDim:
		return nil, fl.Invalid("dim", p.Dim, "must be in [1, %d]", fl.MaxDim)
	case !(p.Epsilon > 0 && p.Epsilon <= fl.MaxEpsilon):
		return nil, fl.Invalid("epsilon", p.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case p.Rounds < 1 || p.Rounds > MaxIterations || p.Rounds > 1 && p.Mechanism != PrivKVM:
		return nil, fl.Invalid(ParamRounds, p.Rounds, "must be in [1, %d], and 1 but for %s", MaxIterations, PrivKVM)
	}
	return newProtocol(p.Mechanism, p.Epsilon, p.Rounds, 0)
}

// PrivKVFrequencyMSE is the squared error of the estimated frequency of a key that a share
// frequency of the clients holds: divide by the number of reports. It is exact when
// the key has its share 1/dim of the reports, and counts clients as a random sample.
// Cf. PCKV (Gu et al., USENIX Security 2020), Theorem 4, for the same quantity there.
func PrivKVFrequencyMSE(p PrivKVPoint, frequency float64) (float64, error) {
	protocol, err := p.protocol()
	if err == nil {
		err = checkFrequency(frequency)
	}
	if err != nil {
		return 0, fmt.Errorf("privkv: frequency mse: %w", err)
	}
	b := protocol.q + frequency*protocol.gap
	return float64(p.Dim) * b * (1 - b) / (protocol.gap * protocol.gap), nil
}

// PrivKVMeanMSE is PrivKVFrequencyMSE for the unconditional mean, which is mean over all clients;
// |mean| ≤ frequency. It is exact.
func PrivKVMeanMSE(p PrivKVPoint, frequency, mean float64) (float64, error) {
	protocol, err := p.protocol()
	if err == nil {
		err = checkFrequency(frequency)
	}
	if err == nil && !(mean >= -frequency && mean <= frequency) {
		err = fl.Invalid("mean", mean, "must be in [-frequency, frequency], frequency is %g", frequency)
	}
	if err != nil {
		return 0, fmt.Errorf("privkv: mean mse: %w", err)
	}
	second := protocol.out + frequency*(protocol.in-protocol.out)
	return float64(p.Dim)*protocol.gain*protocol.gain*second - mean*mean, nil
}

func checkFrequency(f float64) error {
	if !(f >= 0 && f <= 1) {
		return fl.Invalid("frequency", f, "must be in [0, 1]")
	}
	return nil
}

package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// Epsilon is a privacy budget. Its JSON form is a number, or the text "Infinity".
type Epsilon float64

// MarshalJSON implements json.Marshaler.
func (e Epsilon) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(e), 1) {
		return []byte(`"Infinity"`), nil
	}
	return json.Marshal(float64(e))
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Epsilon) UnmarshalJSON(data []byte) error {
	if string(data) == `"Infinity"` {
		*e = Epsilon(math.Inf(1))
		return nil
	}
	return json.Unmarshal(data, (*float64)(e))
}

// Report is the outcome of a check.
type Report struct {
	Round     string `json:"round"`
	Mechanism string `json:"mechanism"`
	Promise   string `json:"promise"`
	Method    Method `json:"method"`
	// Holds is false when the promise is broken. With the exact method true is a proof
	// for the seeds tried; with the statistical one it says that no violation was
	// found.
	Holds bool `json:"holds"`
	// Undecided is true when the time limit ended the check before it could have found a broken promise. Holds is false then,
	// and there are no faults.
	Undecided       bool    `json:"undecided,omitempty"`
	EpsilonPromised Epsilon `json:"epsilon_promised"`
	DeltaPromised   float64 `json:"delta_promised"`
	// EpsilonFound is the ε of the worst ratio, rounded up (exact), or the best lower
	// bound of ε, 0 at least (statistical).
	EpsilonFound Epsilon `json:"epsilon_found"`
	Worst        *Worst  `json:"worst,omitempty"`
	// Faults are broken promises besides the ratio.
	Faults []string `json:"faults,omitempty"`

	Inputs     int     `json:"inputs"`               // ternary vectors, or gradients
	Seeds      int     `json:"seeds,omitempty"`      // hash functions (exact)
	Sequences  int64   `json:"sequences,omitempty"`  // sequences of choices (exact)
	Samples    int     `json:"samples,omitempty"`    // reports or rounds per gradient (statistical)
	Confidence float64 `json:"confidence,omitempty"` // of all bounds together (statistical)

	Notes []string `json:"notes,omitempty"`

	// Tiers has one report for each tier of a mechanism with a menu. The fields above are then
	// one tier's: the first that breaks its promise, or else the first that is undecided, or else
	// the last, which promises least. Holds is the promise of them all.
	Tiers []*Report `json:"tiers,omitempty"`
}

// Worst is the pair of inputs that is distinguished best, and how.
type Worst struct {
	Input string `json:"input"` // the one that makes the event likely
	Other string `json:"other"`

	// Exact: the report, in hexadecimal, with the largest ratio of its probabilities
	// under the two inputs, as a fraction or "Infinity".
	Ratio  string  `json:"ratio,omitempty"`
	Seed   *uint32 `json:"seed,omitempty"`
	Report string  `json:"report,omitempty"`

	// Statistical: the event, with a lower bound of its probability under Input and
	// an upper bound of that under Other.
	Event string  `json:"event,omitempty"`
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Write writes the report as text.
func (r *Report) Write(w io.Writer) error {
	if len(r.Tiers) > 0 {
		return r.writeTiers(w)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Round %s, mechanism %s, promises %s.\n", r.Round, r.Mechanism, r.Promise)
	if r.Method == Exact {
		fmt.Fprintf(&b, "Exact: %d inputs x %d seeds, %d sequences of choices.\n", r.Inputs, r.Seeds, r.Sequences)
	} else {
		fmt.Fprintf(&b, "Statistical: %d gradients x %d samples, confidence %.9g.\n", r.Inputs, r.Samples, r.Confidence)
	}
	switch {
	case r.Undecided:
		fmt.Fprintf(&b, "UNDECIDED: the check ended before it could have found a violation.\n")
	case r.Holds && r.Method == Exact:
		fmt.Fprintf(&b, "HOLDS: ε = %s at most.\n", fl.FormatUp(float64(r.EpsilonFound), 12))
	case r.Holds:
		fmt.Fprintf(&b, "No violation found (this is not a proof): ε >= %s with confidence %.9g.\n", fl.FormatDown(float64(r.EpsilonFound), 4), r.Confidence)
	case r.EpsilonFound <= r.EpsilonPromised:
		fmt.Fprintf(&b, "VIOLATION: see the faults; ε found %.4g.\n", float64(r.EpsilonFound))
	case r.Method == Exact:
		fmt.Fprintf(&b, "VIOLATION: ε = %.17g.\n", float64(r.EpsilonFound))
	default:
		fmt.Fprintf(&b, "VIOLATION: ε >= %s with confidence %.9g.\n", fl.FormatDown(float64(r.EpsilonFound), 4), r.Confidence)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "Fault: %s.\n", f)
	}
	if v := r.Worst; v != nil && !r.Undecided {
		fmt.Fprintf(&b, "Worst: %s against %s", v.Input, v.Other)
		if v.Seed != nil {
			fmt.Fprintf(&b, ", seed %d, report %s, ratio %s.\n", *v.Seed, v.Report, v.Ratio)
		} else {
			fmt.Fprintf(&b, ", event %s: at least %.4g against at most %.4g.\n", v.Event, v.Lower, v.Upper)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return writeNotes(w, r.Notes)
}

func writeNotes(w io.Writer, notes []string) error {
	for _, n := range notes {
		if _, err := fmt.Fprintf(w, "Note: %s.\n", n); err != nil {
			return err
		}
	}
	return nil
}

package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Exported is a whole ledger in the form that Ledger.Export writes as JSON. Other programs read it, and a
// later state of the ledger is compared with it. What entries keep is not in it.
type Exported struct {
	// Version is the form's: 1.
	Version int `json:"version"`
	// Purposes are what is recorded for each body of data, by its name of 1 to 256 bytes.
	Purposes map[string]ExportedPurpose `json:"purposes"`
}

// ExportedPurpose is what is recorded for one body of data.
type ExportedPurpose struct {
	// Budget is the most that a client is ready to lose.
	Budget ExportedBudget `json:"budget"`
	// Spent is what all entries that count come to: an upper bound of ε by the ledger's Filter, at the
	// δ and the relation of Budget. ε is 0 before the first charge. It is infinite where an entry promises
	// nothing under that relation.
	Spent ExportedBudget `json:"spent"`
	// Entries are all entries in the order of their ids, the released ones among them. A purpose without
	// entries has an empty list.
	Entries []ExportedEntry `json:"entries"`
}

// ExportedBudget is a Budget, or what is spent of it. By itself it holds against every party, also against
// one that links all reports of the client.
type ExportedBudget struct {
	ExportedBound
	// Central holds against a party that sees only what whole rounds give together, and that does not
	// work together with the shuffler or the other server. It is nil where there is no such budget.
	Central *ExportedBound `json:"central,omitempty"`
}

// ExportedBound is (ε, δ)-differential privacy: when the client's data change as Relation says, an event of
// probability p has a probability of at most e^ε·p + δ.
type ExportedBound struct {
	// Epsilon is at least 0. An infinite ε bounds nothing.
	Epsilon Epsilon `json:"epsilon"`
	// Delta is in [0, 1). It is added to the probability of every event.
	Delta float64 `json:"delta"`
	// Relation is "replace-one", where the client's data are exchanged for any others, or "zero-out",
	// where they are left out. It may be empty for an entry without privacy.
	Relation string `json:"relation"`
	// Once is true in a budget that allows a single report, see Budget. Anything else has no such field.
	Once bool `json:"once,omitempty"`
}

// ExportedGuarantee is what one report promises, and against whom.
type ExportedGuarantee struct {
	// Model is the guarantee's Trust: "local" holds against every party that reads the report. "shuffle"
	// holds against a party that sees only the shuffled reports of the whole round, and that does not work
	// together with the shuffler. "two-servers" holds against either of two servers, as long as the other one is honest. "none" holds
	// against nobody, and its ε is infinite.
	Model string `json:"model"`
	// Sigma is the guarantee's noise multiplier, where there is Gaussian noise: see fl.Guarantee.
	Sigma float64 `json:"sigma,omitempty"`
	ExportedBound
}

// ExportedEntry is an Entry: one charge, and what became of it.
type ExportedEntry struct {
	// ID is at least 1. All purposes of a ledger share the ids.
	ID uint64 `json:"id"`
	// State is "reserved", "spent", "acknowledged" or "released", see State.
	State string `json:"state"`
	// RoundID is the round's name of 1 to 256 bytes.
	RoundID string `json:"round_id"`
	// Digest is the SHA-256 of the round's description in 64 hexadecimal digits, see fl.Round.Digest.
	Digest string `json:"digest"`
	// Mechanism is the name of the mechanism that made the report.
	Mechanism string `json:"mechanism"`
	// ExportedGuarantee is the guarantee of the report by itself.
	ExportedGuarantee
	// Central is what the report promises in the model "shuffle" or "two-servers" beside that, nil where
	// it promises nothing more.
	Central *ExportedGuarantee `json:"central,omitempty"`
	// The times are by the client's clock, RFC 3339 in UTC. Those that have not come are left out.
	// Nothing is promised about them: order and budget do not depend on the clock.
	ReservedAt     time.Time `json:"reserved_at"`
	SpentAt        time.Time `json:"spent_at,omitzero"`
	ReleasedAt     time.Time `json:"released_at,omitzero"`
	AcknowledgedAt time.Time `json:"acknowledged_at,omitzero"`
	// Receipt is the server's acknowledgement, as given to Ledger.Receipt: at most 256 bytes.
	Receipt string `json:"receipt,omitempty"`
}

// Counts says whether the entry counts in the budget: all count that were not released.
func (e ExportedEntry) Counts() bool { return e.State != Released.String() }

// Epsilon is an ε. JSON has no infinity: there an infinite one is the string "inf".
type Epsilon float64

// infinite is how JSON has an infinite ε.
var infinite = []byte(`"inf"`)

// MarshalJSON implements json.Marshaler.
func (e Epsilon) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(e), 1) {
		return infinite, nil
	}
	return json.Marshal(float64(e))
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Epsilon) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, infinite) {
		*e = Epsilon(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(e))
}

// exportVersion is the version of the exported form.
const exportVersion = 1

// maxExported bounds the exported form that is read. A ledger of 300 000 entries fits.
const maxExported = 256 << 20

// ReadExported reads what Ledger.Export has written, at most 256 MiB. The form has no checksums: nothing
// shows that a ledger has written it. The error names what is not of the form, or wraps r's.
func ReadExported(r io.Reader) (_ *Exported, err error) {
	defer prefix.Error(&err, "ledger: exported form")
	return readExported(r, maxExported)
}

func readExported(r io.Reader, limit int64) (*Exported, error) {
	limited := &io.LimitedReader{R: r, N: limit + 1}
	x := &Exported{}
	err := decodeOne(limited, x)
	if limited.N == 0 {
		return nil, fl.Invalid("size", fmt.Sprintf("more than %d bytes", limit), "must be at most that")
	}
	if err != nil {
		return nil, err
	}
	return x, x.validate()
}

func (x *Exported) validate() error {
	if x.Version != exportVersion {
		return fl.Invalid("version", x.Version, "must be %d", exportVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Purposes)) {
		if err := checkText("purpose", name); err != nil {
			return err
		}
		if err := x.Purposes[name].validate(name); err != nil {
			return fmt.Errorf("purpose %q: %w", name, err)
		}
	}
	return nil
}

func (p ExportedPurpose) validate(name string) error {
	if _, err := p.Budget.budgets(); err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	if _, err := p.Spent.budgets(); err != nil {
		return fmt.Errorf("spent: %w", err)
	}
	var last uint64
	for _, e := range p.Entries {
		if e.ID <= last {
			return fl.Invalid("id", e.ID, "must be above %d, the id of the entry before", last)
		}
		last = e.ID
		if _, err := e.entry(name); err != nil {
			return fmt.Errorf("entry %d: %w", e.ID, err)
		}
	}
	return nil
}

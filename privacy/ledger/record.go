package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// entryJSON is an Entry as it is stored and exported.
type entryJSON struct {
	ID        uint64 `json:"id"`
	State     string `json:"state"`
	Purpose   string `json:"purpose,omitempty"` // stored only
	RoundID   string `json:"round_id"`
	Digest    string `json:"digest"`
	Mechanism string `json:"mechanism"`
	guaranteeJSON
	Central        *guaranteeJSON `json:"central,omitempty"`
	ReservedAt     time.Time      `json:"reserved_at"`
	SpentAt        time.Time      `json:"spent_at,omitzero"`
	ReleasedAt     time.Time      `json:"released_at,omitzero"`
	AcknowledgedAt time.Time      `json:"acknowledged_at,omitzero"`
	Receipt        string         `json:"receipt,omitempty"`
}

type guaranteeJSON struct {
	Model    string  `json:"model"`
	Epsilon  epsilon `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
}

type budgetJSON struct {
	Epsilon  epsilon `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
}

// budgetsJSON are the budgets of a purpose as they are stored and exported.
type budgetsJSON struct {
	budgetJSON
	Central *budgetJSON `json:"central,omitempty"`
}

// epsilon is a number or, because JSON has no infinity, the string "inf".
type epsilon float64

func (e epsilon) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(e), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(e))
}

func (e *epsilon) UnmarshalJSON(text []byte) error {
	if string(text) == `"inf"` {
		*e = epsilon(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(e))
}

func guaranteeToJSON(g fl.Guarantee) guaranteeJSON {
	j := guaranteeJSON{Model: g.Trust.String(), Epsilon: epsilon(g.Epsilon), Delta: g.Delta}
	if g.Relation != 0 {
		j.Relation = g.Relation.String()
	}
	return j
}

func (j guaranteeJSON) guarantee() (g fl.Guarantee, err error) {
	g = fl.Guarantee{Epsilon: float64(j.Epsilon), Delta: j.Delta}
	if g.Trust, err = parse("model", j.Model, fl.NoPrivacy, fl.Local, fl.Shuffle, fl.TwoServers); err != nil {
		return fl.Guarantee{}, err
	}
	if j.Relation != "" {
		if g.Relation, err = parse("relation", j.Relation, fl.ReplaceOne, fl.ZeroOut); err != nil {
			return fl.Guarantee{}, err
		}
	}
	return g, nil
}

func (e Entry) toJSON() entryJSON {
	j := entryJSON{
		ID: uint64(e.ID), State: e.State.String(), Purpose: e.Charge.Purpose, RoundID: e.Charge.RoundID,
		Digest: hex.EncodeToString(e.Charge.Round[:]), Mechanism: e.Charge.Mechanism, guaranteeJSON: guaranteeToJSON(e.Charge.Guarantee),
		ReservedAt: e.ReservedAt, SpentAt: e.SpentAt, ReleasedAt: e.ReleasedAt,
		AcknowledgedAt: e.AcknowledgedAt, Receipt: e.Receipt,
	}
	if e.Charge.Central != (fl.Guarantee{}) {
		central := guaranteeToJSON(e.Charge.Central)
		j.Central = &central
	}
	return j
}

func (j entryJSON) entry() (Entry, error) {
	e := Entry{
		ID: ID(j.ID), ReservedAt: j.ReservedAt, SpentAt: j.SpentAt, ReleasedAt: j.ReleasedAt,
		AcknowledgedAt: j.AcknowledgedAt, Receipt: j.Receipt,
		Charge: Charge{Purpose: j.Purpose, RoundID: j.RoundID, Mechanism: j.Mechanism},
	}
	var err error
	if e.State, err = parse("state", j.State, Reserved, Spent, Acknowledged, Released); err != nil {
		return Entry{}, err
	}
	if e.Charge.Guarantee, err = j.guarantee(); err != nil {
		return Entry{}, err
	}
	if j.Central != nil {
		if e.Charge.Central, err = j.Central.guarantee(); err != nil {
			return Entry{}, fmt.Errorf("central: %w", err)
		}
	}
	digest, err := hex.DecodeString(j.Digest)
	if err != nil || len(digest) != len(e.Charge.Round) {
		return Entry{}, fl.Invalid("digest", j.Digest, "must be 64 hexadecimal digits")
	}
	e.Charge.Round = [32]byte(digest)
	return e, e.Charge.validate()
}

func (b Budget) toJSON() budgetJSON {
	return budgetJSON{Epsilon: epsilon(b.Epsilon), Delta: b.Delta, Relation: b.Relation.String()}
}

func (j budgetJSON) budget() (b Budget, err error) {
	b = Budget{Epsilon: float64(j.Epsilon), Delta: j.Delta}
	if b.Relation, err = parse("relation", j.Relation, fl.ReplaceOne, fl.ZeroOut); err != nil {
		return Budget{}, err
	}
	return b, b.validate()
}

func (bs budgets) toJSON() budgetsJSON {
	j := budgetsJSON{budgetJSON: bs.all.toJSON()}
	if bs.central != nil {
		central := bs.central.toJSON()
		j.Central = &central
	}
	return j
}

func (j budgetsJSON) budgets() (bs budgets, err error) {
	if bs.all, err = j.budget(); err != nil || j.Central == nil {
		return bs, err
	}
	central, err := j.Central.budget()
	if err != nil {
		return budgets{}, fmt.Errorf("central: %w", err)
	}
	bs.central = &central
	return bs, nil
}

// parse returns the one of values that prints as text.
func parse[T fmt.Stringer](name, text string, values ...T) (T, error) {
	for _, v := range values {
		if v.String() == text {
			return v, nil
		}
	}
	var none T
	return none, fl.Invalid(name, text, "must be one of %v", values)
}

var errChecksum = errors.New("wrong checksum")

// seal encodes a record that is stored under key: a SHA-256 over the key and the JSON,
// then the JSON.
func seal(key []byte, record any) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	sum := checksum(key, text)
	return append(sum[:], text...), nil
}

// unseal is the inverse of seal. Names that the record does not have are an error: what they say
// would be forgotten.
func unseal(key, sealed []byte, record any) error {
	if len(sealed) < sha256.Size {
		return errChecksum
	}
	sum, text := sealed[:sha256.Size], sealed[sha256.Size:]
	if want := checksum(key, text); !bytes.Equal(sum, want[:]) {
		return errChecksum
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(record); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fl.Invalid("record", fmt.Sprintf("%d bytes", len(text)), "must be one JSON value")
	}
	return nil
}

func checksum(key, text []byte) [sha256.Size]byte {
	// The length keeps keys and texts apart.
	return sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(key), key, text))
}

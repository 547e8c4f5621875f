package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// storedEntry is an Entry as it is stored: as it is exported, with its purpose. Budgets are stored as
// they are exported.
type storedEntry struct {
	Purpose string `json:"purpose"`
	ExportedEntry
}

func exportedGuarantee(g fl.Guarantee) ExportedGuarantee {
	x := ExportedGuarantee{Model: g.Trust.String(), Sigma: g.Sigma, ExportedBound: ExportedBound{Epsilon: Epsilon(g.Epsilon), Delta: g.Delta}}
	if g.Relation != 0 {
		x.Relation = g.Relation.String()
	}
	return x
}

func (x ExportedGuarantee) guarantee() (g fl.Guarantee, err error) {
	if x.Once {
		return fl.Guarantee{}, fl.Invalid("once", x.Once, "must be left out: only a budget has it")
	}
	g = fl.Guarantee{Epsilon: float64(x.Epsilon), Delta: x.Delta, Sigma: x.Sigma}
	if g.Trust, err = parse("model", x.Model, fl.NoPrivacy, fl.Local, fl.Shuffle, fl.TwoServers); err != nil {
		return fl.Guarantee{}, err
	}
	if x.Relation != "" {
		if g.Relation, err = parse("relation", x.Relation, fl.ReplaceOne, fl.ZeroOut); err != nil {
			return fl.Guarantee{}, err
		}
	}
	return g, nil
}

func (e Entry) exported() ExportedEntry {
	x := ExportedEntry{
		ID: uint64(e.ID), State: e.State.String(), RoundID: e.Charge.RoundID,
		Digest: hex.EncodeToString(e.Charge.Round[:]), Mechanism: e.Charge.Mechanism, ExportedGuarantee: exportedGuarantee(e.Charge.Guarantee),
		ReservedAt: e.ReservedAt, SpentAt: e.SpentAt, ReleasedAt: e.ReleasedAt,
		AcknowledgedAt: e.AcknowledgedAt, Receipt: e.Receipt,
	}
	if e.Charge.Central != (fl.Guarantee{}) {
		central := exportedGuarantee(e.Charge.Central)
		x.Central = &central
	}
	return x
}

// entry returns the entry of a purpose.
func (x ExportedEntry) entry(purpose string) (Entry, error) {
	e := Entry{
		ID: ID(x.ID), ReservedAt: x.ReservedAt, SpentAt: x.SpentAt, ReleasedAt: x.ReleasedAt,
		AcknowledgedAt: x.AcknowledgedAt, Receipt: x.Receipt,
		Charge: Charge{Purpose: purpose, RoundID: x.RoundID, Mechanism: x.Mechanism},
	}
	var err error
	if e.State, err = parse("state", x.State, Reserved, Spent, Acknowledged, Released); err != nil {
		return Entry{}, err
	}
	if e.Charge.Guarantee, err = x.guarantee(); err != nil {
		return Entry{}, err
	}
	if x.Central != nil {
		if e.Charge.Central, err = x.Central.guarantee(); err != nil {
			return Entry{}, fmt.Errorf("central: %w", err)
		}
	}
	digest, err := hex.DecodeString(x.Digest)
	if err != nil || len(digest) != len(e.Charge.Round) {
		return Entry{}, fl.Invalid("digest", x.Digest, "must be 64 hexadecimal digits")
	}
	e.Charge.Round = [32]byte(digest)
	if x.Receipt != "" {
		if err := checkText("receipt", x.Receipt); err != nil {
			return Entry{}, err
		}
	}
	return e, e.Charge.validate()
}

func (b Budget) exported() ExportedBound {
	return ExportedBound{Epsilon: Epsilon(b.Epsilon), Delta: b.Delta, Relation: b.Relation.String(), Once: b.Once}
}

func (x ExportedBound) budget() (b Budget, err error) {
	b = Budget{Epsilon: float64(x.Epsilon), Delta: x.Delta, Once: x.Once}
	if b.Relation, err = parse("relation", x.Relation, fl.ReplaceOne, fl.ZeroOut); err != nil {
		return Budget{}, err
	}
	return b, b.validate()
}

func (bs budgets) exported() ExportedBudget {
	x := ExportedBudget{ExportedBound: bs.all.exported()}
	if bs.central != nil {
		central := bs.central.exported()
		x.Central = &central
	}
	return x
}

func (x ExportedBudget) budgets() (bs budgets, err error) {
	if bs.all, err = x.budget(); err != nil || x.Central == nil {
		return bs, err
	}
	central, err := x.Central.budget()
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
	return sealBytes(key, text), nil
}

// sealBytes is seal for what is stored as it is.
func sealBytes(key, data []byte) []byte {
	sum := checksum(key, data)
	return append(sum[:], data...)
}

// unseal is the inverse of seal. Names that the record does not have are an error: what they say
// would be forgotten.
func unseal(key, sealed []byte, record any) error {
	text, err := unsealBytes(key, sealed)
	if err != nil {
		return err
	}
	return decodeOne(bytes.NewReader(text), record)
}

// unsealBytes is the inverse of sealBytes. The result is a part of sealed.
func unsealBytes(key, sealed []byte) ([]byte, error) {
	if len(sealed) < sha256.Size {
		return nil, errChecksum
	}
	sum, data := sealed[:sha256.Size], sealed[sha256.Size:]
	if want := checksum(key, data); !bytes.Equal(sum, want[:]) {
		return nil, errChecksum
	}
	return data, nil
}

// decodeOne reads one JSON value with nothing behind it. It refuses names that the value does not have.
func decodeOne(r io.Reader, value any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return err
	}
	switch _, err := d.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fl.Invalid("JSON", "more than one value", "must be one")
}

func checksum(key, text []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(key), key) // the length keeps keys and texts apart
	h.Write(text)
	h.Sum(sum[:0])
	return sum
}

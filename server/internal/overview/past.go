package overview

import (
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// maxKinds bounds the kinds of rounds that a server counts one by one.
const maxKinds = 256

// Past counts rounds by their kind. The zero value has none.
type Past struct {
	Kinds   []Kind
	Unknown int // rounds of a kind that is not known
	index   map[[32]byte]int
}

// Add counts a round and returns the index of its kind, or −1 if it cannot be told apart.
func (p *Past) Add(r fl.Round) int {
	r.ID, r.PublicSeed, r.Deadline, r.TargetReports, r.IssuerKey, r.OuterIssuerKey = "kind", [32]byte{1}, time.Time{}, 0, nil, nil
	canonical, err := r.MarshalBinary()
	key := sha256.Sum256(canonical)
	at, known := p.index[key]
	if err != nil || !known && len(p.Kinds) == maxKinds {
		p.Unknown++
		return -1
	}
	if !known {
		if p.index == nil {
			p.index = map[[32]byte]int{}
		}
		at = len(p.Kinds)
		p.index[key] = at
		p.Kinds = append(p.Kinds, Kind{Round: r})
	}
	p.Kinds[at].Count++
	return at
}

// Clone returns a copy that can be added to.
func (p *Past) Clone() *Past {
	c := &Past{Kinds: slices.Clone(p.Kinds), index: map[[32]byte]int{}, Unknown: p.Unknown}
	maps.Copy(c.index, p.index)
	return c
}

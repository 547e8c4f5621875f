package features

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// recipe hashes what a map is made of. Every entry is written with its length, so that no two
// lists of entries have the same bytes.
type recipe struct{ hash.Hash }

// newRecipe begins the digest of a kind of map.
func newRecipe(kind string) recipe {
	r := recipe{sha256.New()}
	r.text("hushgrad/features/v1")
	r.text(kind)
	return r
}

func (r recipe) bytes(b []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	r.Write(n[:]) // a hash does not fail
	r.Write(b)
}

func (r recipe) text(s string) { r.bytes([]byte(s)) }

func (r recipe) integers(values ...int) {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	r.bytes(b)
}

func (r recipe) reals(values ...float64) {
	b, _ := binary.Append(nil, binary.LittleEndian, values) // numbers of 8 bytes each
	r.bytes(b)
}

func (r recipe) digest() [32]byte { return [32]byte(r.Sum(nil)) }

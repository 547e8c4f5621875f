// Package idset digests sets of ids, in any order and in parts. Use it to see whether two
// parties counted the same reports without sending all ids. Start with [Digest.Add].
//
// It is LtHash of Lewi, Kim, Maykov, Weis, Securing Update Propagation with Homomorphic
// Hashing (2019), after Bellare and Micciancio (1997): every id is hashed to 1024 integers of 16
// bits by SHAKE128, and the digest is their sum modulo 2^16. Two different sets with one
// digest are as hard to find as a short vector in a lattice: their estimate is 200 bits. The
// plain sum or exclusive or of 256-bit hashes has no such strength.
//
// Sets are multisets here: an id that is added twice counts twice.
package idset

import (
	"crypto/sha3"
	"encoding/binary"
)

const lanes = 1024

// Bytes is the length of the binary form of a Digest.
const Bytes = 2 * lanes

// Digest is the digest of a multiset of ids. The zero Digest is the empty multiset's digest.
// Values compare with ==.
type Digest [lanes]uint16

// Add adds an id, about 6 µs.
func (d *Digest) Add(id []byte) {
	h := sha3.NewSHAKE128()
	_, _ = h.Write(id) // never fails
	var stream [Bytes]byte
	_, _ = h.Read(stream[:]) // never fails
	for i := range d {
		d[i] += binary.LittleEndian.Uint16(stream[2*i:])
	}
}

// Merge adds the ids of another multiset.
func (d *Digest) Merge(other *Digest) {
	for i, v := range other {
		d[i] += v
	}
}

// Append appends the binary form, Bytes bytes.
func (d *Digest) Append(dst []byte) []byte {
	for _, v := range d {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	return dst
}

// Parse reads the binary form at the beginning of data, which has at least Bytes bytes.
func Parse(data []byte) (d Digest) {
	for i := range d {
		d[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return d
}

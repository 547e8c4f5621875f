package idset_test

import (
	"crypto/sha3"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/hushgrad/hushgrad/internal/idset"
)

func digest(ids ...string) *idset.Digest {
	d := new(idset.Digest)
	for _, id := range ids {
		d.Add([]byte(id))
	}
	return d
}

func TestOrderAndPartsMakeNoDifference(t *testing.T) {
	whole := digest("a", "b", "c")
	if *whole != *digest("c", "a", "b") {
		t.Error("another order has another digest")
	}
	parts, rest := digest("b"), digest("c", "a")
	parts.Merge(rest)
	if *parts != *whole {
		t.Error("parts have another digest")
	}
	if *rest != *digest("a", "c") {
		t.Error("what was merged changed")
	}
	if *digest() != (idset.Digest{}) {
		t.Error("the empty digest is not zero")
	}
}

func TestOtherSetsHaveOtherDigests(t *testing.T) {
	sets := [][]string{{}, {""}, {"a"}, {"a", "a"}, {"a", "b"}, {"ab"}, {"b"}, {"a", "b", "b"}, {"a", "a", "b"}}
	seen := map[idset.Digest]string{}
	for _, set := range sets {
		d := *digest(set...)
		if before, ok := seen[d]; ok {
			t.Errorf("%q and %s have one digest", set, before)
		}
		seen[d] = fmt.Sprintf("%q", set)
	}
}

func TestTheBinaryFormIsTheDigest(t *testing.T) {
	d := digest("a", "b")
	data := d.Append([]byte{7})
	if len(data) != 1+idset.Bytes || data[0] != 7 || idset.Parse(data[1:]) != *d {
		t.Errorf("%d bytes, want the digest in %d bytes behind one", len(data), idset.Bytes)
	}
	want := sha3.SumSHAKE128([]byte("a"), idset.Bytes)
	one := digest("a").Append(nil)
	if string(one) != string(want) || binary.LittleEndian.Uint16(one) != digest("a")[0] {
		t.Error("the digest of one id is not its SHAKE128 stream")
	}
}

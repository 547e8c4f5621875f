package shares

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestPackedVectorsComeBack(t *testing.T) {
	rng := newRand(1)
	for bits := 2; bits <= maxBits; bits++ {
		for _, length := range []int{1, 2, 4, 32} {
			r := ring{bits: bits, length: length}
			vector := make([]uint64, length)
			for i := range vector {
				vector[i] = rng.Uint64() // bits above the ring's are dropped
			}
			packed := r.pack([]byte{7}, vector)[1:]
			if len(packed) != r.bytes() || !r.wellFormed(packed) {
				t.Fatalf("%+v: %d bytes, want %d with zeros in the end", r, len(packed), r.bytes())
			}
			sums := make([]uint64, length)
			r.add(sums, packed)
			for i, v := range vector {
				if want := v & r.mask(); r.at(packed, i) != want || sums[i] != want {
					t.Fatalf("%+v: number %d is %d, and %d in the sum, want %d", r, i, r.at(packed, i), sums[i], want)
				}
			}
			if !bytes.Equal(r.pack(nil, sums), packed) {
				t.Fatalf("%+v: another form after reading", r)
			}
		}
	}
}

func TestUnusedBitsAreZero(t *testing.T) {
	r := ring{bits: 3, length: 2}
	for b, want := range map[byte]bool{0: true, 0x3f: true, 0x40: false, 0x80: false} {
		if r.wellFormed([]byte{b}) != want {
			t.Errorf("%#x: well formed is %t, want %t", b, !want, want)
		}
	}
	for _, packed := range [][]byte{nil, {0, 0}} {
		if r.wellFormed(packed) {
			t.Errorf("% x is well formed", packed)
		}
	}
}

// The expansion of a seed is the key stream of AES-256-CTR from a counter of 0: block i is
// the encryption of i.
func TestASeedIsAKeyOfAES(t *testing.T) {
	r := ring{bits: 20, length: 32}
	seed := bytes.Repeat([]byte{3}, seedBytes)
	stream := r.expand(seed)
	block, err := aes.NewCipher(seed)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(stream); i += aes.BlockSize {
		var want [aes.BlockSize]byte
		want[aes.BlockSize-1] = byte(i / aes.BlockSize)
		cipher.Block.Encrypt(block, want[:], want[:])
		if !bytes.Equal(stream[i:i+aes.BlockSize], want[:]) {
			t.Errorf("block %d is % x, want % x", i/aes.BlockSize, stream[i:i+aes.BlockSize], want)
		}
	}
}

// The ring tells both extremes apart, and half of it would not.
func TestTheExtremesDoNotWrap(t *testing.T) {
	for _, most := range []float64{1, 2, 3, 4, 1000, 1023, 1024, 1<<40 + 5, 1<<53 - 1} {
		r, err := newRing(1, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []int64{int64(most), -int64(most), 0, 1, -1} {
			if got := r.signed(uint64(v) & r.mask()); got != v {
				t.Errorf("%d becomes %d in %d bits", v, got, r.bits)
			}
		}
		half := ring{bits: r.bits - 1, length: 1}
		if half.signed(uint64(most)&half.mask()) == int64(most) {
			t.Errorf("%g fits into %d bits, too", most, half.bits)
		}
	}
	if _, err := newRing(1, 1<<(maxBits-1)); err == nil {
		t.Error("a sum beyond the largest ring was accepted")
	}
	if _, err := newRing(1, math.NaN()); err == nil {
		t.Error("NaN was accepted")
	}
}

// As many reports as are decoded, all at one end of the inputs: the sum is theirs up to noise.
func TestAsManyReportsAsFitDoNotWrap(t *testing.T) {
	m := open(t, oneLevel(1, 2))
	rng := newRand(2)
	n := capacity(m.round.Round)
	for _, sign := range []float64{1, -1} {
		a := m.NewAggregator().(*aggregator)
		for range n {
			report, err := m.Encode(nil, []float64{sign * 1e6}, rng)
			if err == nil {
				err = a.Add(report)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		sum := m.ring.signed(a.sums[0] & m.ring.mask())
		// n/2 discrete Laplace variables of decay η: 8 standard deviations and more.
		if off := math.Abs(float64(sum) - sign*float64(n)); off > 8*math.Sqrt(float64(n)/2*2)/m.noise.Eta {
			t.Errorf("%d reports of %g sum to %d", n, sign, sum)
		}
		if _, err := a.Estimate(); err != nil {
			t.Error(err)
		}
		a.reports++
		if _, err := a.Estimate(); err == nil {
			t.Error("more reports than the ring has room for were decoded")
		}
	}
}

// The probability that any coordinate leaves the room for noise is at most 2^−40, and with
// 2 less for every group it would not be.
func TestTheRoomForNoiseIsThatOfTheTails(t *testing.T) {
	for _, c := range []struct{ dim, clients int }{{1, 2}, {1970, 6000}, {5, 1_000_000}} {
		r := oneLevel(c.dim, c.clients)
		m := open(t, r)
		n := capacity(r)
		groups := math.Ceil(float64(n) / float64(c.clients))
		room := (largest(m.noise, 1, n) - float64(n)) / groups
		tail := func(t float64) float64 {
			return 2 * groups * float64(m.ring.length) * math.Exp(-m.noise.Eta*(t+1))
		}
		if tail(room) > 0x1p-40 || tail(room-2) < 0x1p-40 {
			t.Errorf("%+v: tails beyond %g have the probability %g", c, room, tail(room))
		}
		if m.ring.signed(uint64(largest(m.noise, 1, n))) != int64(largest(m.noise, 1, n)) {
			t.Errorf("%+v: %d bits do not hold it", c, m.ring.bits)
		}
	}
}

func TestReportsHaveTheirSize(t *testing.T) {
	m := open(t, oneLevel(20, 3))
	first, second, err := m.EncodeShares([]byte{1}, []byte{2, 3}, make([]float64, 20), newRand(3))
	if err != nil || len(first) != 1+m.ShareBytes(fl.FirstServer) || len(second) != 2+m.ShareBytes(fl.SecondServer) || first[0] != 1 || second[1] != 3 {
		t.Errorf("%d and %d bytes, %v", len(first), len(second), err)
	}
	if m.ShareBytes(0) != 0 || m.ShareBytes(3) != 0 || m.ReportBytes() != len(first)+len(second)-3 {
		t.Errorf("%d, %d and %d bytes", m.ShareBytes(0), m.ShareBytes(3), m.ReportBytes())
	}
	first, second, err = m.EncodeShares([]byte{1}, []byte{2, 3}, []float64{1}, newRand(3))
	if err == nil || len(first) != 1 || len(second) != 2 {
		t.Errorf("a short gradient: %d and %d bytes, %v", len(first), len(second), err)
	}
}

package gaussian

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
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

// As many reports as are decoded, all of one gradient: the sum is theirs up to noise. One more is refused.
func TestAsManyReportsAsFitDoNotWrap(t *testing.T) {
	r := testRound(1)
	r.Epsilon = 20 // little noise: the reports fill the ring
	m := open(t, r)
	rng := newRand(2)
	n := m.capacity()
	for _, sign := range []float64{1, -1} {
		a := m.NewAggregator().(*count.Aggregator[[]byte, *total])
		for range n {
			report, err := m.Encode(nil, []float64{sign * 1e6}, rng)
			if err == nil {
				err = a.Add(report)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		e, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		if mean := e.Mean(); !(math.Abs(mean.Value[0]-sign*r.Scale) <= 6*mean.StdErr[0]) {
			t.Errorf("%d reports of %g have the mean %g ± %g", n, sign*r.Scale, mean.Value[0], mean.StdErr[0])
		}
		if err := a.AddState(m.newTotal(), 1); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Estimate(); err == nil {
			t.Error("more reports than the ring has room for were decoded")
		}
	}
}

// The ring has room for the sum and for 12 standard deviations of the noise, and not for much more. 2^20 coordinates take at
// most 3.13 bytes each with 1000 clients and a total ε of 1 over 30 rounds.
func TestTheRingHasLittleMoreThanItNeeds(t *testing.T) {
	for _, c := range []struct{ dim, clients int }{{1, 2}, {1970, 6000}, {1 << 20, 1000}} {
		r := testRound(c.dim)
		r.MinReports = c.clients
		m := open(t, r)
		most := m.largest(m.capacity(), bothNoises)
		if least := 12*math.Sqrt2*m.noise.sigma + float64(m.capacity())*fine.fineness; most < least {
			t.Errorf("%+v: room for %g, want %g and more", c, most, least)
		}
		if ringOf(m).signed(uint64(most)) != int64(most) || float64(int64(1)<<ringOf(m).bits) > 4.1*most {
			t.Errorf("%+v: %d bits for %g", c, ringOf(m).bits, most)
		}
	}
	r := testRound(1 << 20)
	r.MinReports, r.Epsilon = 1000, 0.1636 // a point of the curve of 30 rounds of total ε = 1, at the same δ
	if m := open(t, r); float64(ringOf(m).bytes()) > 3.13*(1<<20) {
		t.Errorf("%.3f bytes for a coordinate", float64(ringOf(m).bytes())/(1<<20))
	}
}

func TestReportsHaveTheirSize(t *testing.T) {
	m := open(t, testRound(20))
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

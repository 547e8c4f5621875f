package liar

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/cloudflare/circl/vdaf/prio3/mhcv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/rotation"
)

// inputBits is how many bits docs/report-format.md gives a coordinate in rounds of gaussian-shares with proofs.
const inputBits = 8

// proved returns the report of two servers with a proof, first share and second share, that moves the sum furthest along a
// direction: it has the signs of the direction's largest rotated coordinates, and is as long as a proof allows. Unlike an honest client it does not
// keep to the clip.
func proved(r fl.Round, direction []float64, rng *rand.Rand) ([]byte, error) {
	key, err := r.PublicKey("hdsum/signs")
	if err != nil {
		return nil, err
	}
	turned, err := rotation.New(r.Dim, key)
	if err != nil {
		return nil, err
	}
	y := make([]float64, turned.PaddedDim())
	if err := turned.Forward(y, direction); err != nil {
		return nil, err
	}
	most := longest(len(y))
	set := make([]bool, inputBits*len(y))
	for _, i := range largest(y)[:min(most, len(y))] {
		at := inputBits * i // 1
		if y[i] < 0 {
			at += inputBits / 2 // −1
		}
		set[at] = true
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	vdaf, err := mhcv.New(2, uint(len(set)), uint(most), chunkLength(len(set)+bits.Len(uint(most))), digest[:])
	if err != nil {
		return nil, err
	}
	params := vdaf.Params()
	var random []byte
	for len(random) < 16+int(params.RandSize()) {
		random = binary.LittleEndian.AppendUint64(random, rng.Uint64())
	}
	nonce := mhcv.Nonce(random)
	parts, shares, err := vdaf.Shard(set, &nonce, random[16:])
	if err != nil {
		return nil, err
	}
	var report []byte
	for _, aggregator := range []int{1, 0} { // the first server's share is the short one
		share, err := shares[aggregator].MarshalBinary()
		if err != nil {
			return nil, err
		}
		report = append(append(append(report, nonce[:]...), parts...), share...)
	}
	return report, nil
}

// longest is the number of bits that may be set for d' coordinates: B² of K = ⌈2/3·√d'⌉.
func longest(padded int) int {
	d := float64(padded)
	k := math.Ceil(2. / 3 * math.Sqrt(d))
	widest := min(k, 2)
	return int(min(k*k+d/4+2*(k+math.Sqrt(d)/2), d*widest*widest))
}

// largest returns the places of numbers, those with the largest absolute values first.
func largest(y []float64) []int {
	places := make([]int, len(y))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(math.Abs(y[b]), math.Abs(y[a])) })
	return places
}

// chunkLength is the chunk length of the shortest proof.
func chunkLength(bits int) uint {
	best := bits
	for p := 2; p <= 2*bits; p *= 2 {
		if chunk := (bits + p - 2) / (p - 1); 2*chunk+2*p < cost(best, bits) {
			best = chunk
		}
	}
	return uint(best)
}

// cost is how many elements a proof with a chunk length has.
func cost(chunk, bits int) int {
	p := 2
	for p-1 < (bits+chunk-1)/chunk {
		p *= 2
	}
	return 2*chunk + 2*p
}

// shared returns a report of two servers without a proof that ruins the sum: its second share is random, so that the sum is.
func shared(r fl.Round, m fl.SharedMechanism, rng *rand.Rand) ([]byte, error) {
	report, err := m.Encode(nil, make([]float64, r.Dim), rng)
	if err != nil {
		return nil, err
	}
	for i := m.ShareBytes(fl.FirstServer); i < len(report)-1; i++ { // the last byte has unused bits
		report[i] = byte(rng.Uint32())
	}
	return report, nil
}

// ofShares returns a crafted report of a mechanism for two servers.
func ofShares(r fl.Round, m fl.SharedMechanism, direction []float64, rng *rand.Rand) (report []byte, err error) {
	if _, ok := m.(fl.ProvedMechanism); ok {
		report, err = proved(r, direction, rng)
	} else {
		report, err = shared(r, m, rng)
	}
	if err != nil {
		return nil, fmt.Errorf("liar: %w", err)
	}
	return report, nil
}

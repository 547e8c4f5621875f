package liar

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/rotation"
)

// What docs/report-format.md says about rounds of gaussian-shares with proofs.
const (
	inputBits   = 5
	inputOffset = 16
)

// proved returns the report of two servers with a proof, first share and second share, that moves the sum furthest along a
// direction: every rotated coordinate is at the end of its range. Unlike an honest client it does not keep to the clip.
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
	inputs := make([]uint64, len(y)) // −16 each
	for i, v := range y {
		if v > 0 {
			inputs[i] = 1<<inputBits - 1
		}
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	vdaf, err := sumvec.New(2, uint(len(y)), inputBits, chunkLength(len(y)*inputBits), digest[:])
	if err != nil {
		return nil, err
	}
	params := vdaf.Params()
	var random []byte
	for len(random) < 16+int(params.RandSize()) {
		random = binary.LittleEndian.AppendUint64(random, rng.Uint64())
	}
	nonce := sumvec.Nonce(random)
	parts, shares, err := vdaf.Shard(inputs, &nonce, random[16:])
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

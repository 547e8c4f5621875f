package gaussian

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/cloudflare/circl/vdaf/prio3/arith/fp128"
	"github.com/cloudflare/circl/vdaf/prio3/mhcv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// With proofs an integer is in [−widestProved, widestProved], and the inputs of Prio3MultihotCountVec have inputBits bits for it. One half
// of them is for positive integers: 1 is the first of its bits, and 2 is all four. So v² bits are set, and the number of bits set for a vector is its
// squared length. The other half is for negative integers.
const (
	widestProved = 2
	inputBits    = 2 * widestProved * widestProved
)

// The first bit of a half stands for 1, and each of the others for a third. An opened share counts in thirds.
const thirds = 3

// provedGrid is the grid where inputs are proved. A rotated coordinate of a gradient of norm C has a standard width of two thirds of a
// unit, so that the range keeps three of them. Units are so coarse that a rounding drawn again would shorten what the vectors of small rounds stand for:
// with twice the slack one in 400 is, at most.
var provedGrid = grid{fineness: 2. / 3, slack: 2, widest: widestProved}

// maxProved is the largest d' with proofs. A share has 128 bytes a coordinate.
const maxProved = 1 << 16

// Before the input share, each share has what both servers get: the nonce and the public share, a seed's length for each of
// the two.
const (
	nonceBytes  = 16
	partsBytes  = 2 * 32
	publicBytes = nonceBytes + partsBytes
)

// proofs shares a vector as the inputs of Prio3MultihotCountVec (draft-irtf-cfrg-vdaf, section 7.4.5), with a proof that its squared length
// is at most B².
type proofs struct {
	length                  int
	most                    int64     // B²
	first, second, prepared int       // lengths of input shares and of a preparation share
	vdafs                   sync.Pool // of *mhcv.MultiHotCountVec, which is for one goroutine
}

// newProofs returns the sharing of vectors of one round.
func newProofs(length int, most int64, round [32]byte) (*proofs, error) {
	p := &proofs{length: length, most: most}
	bits := length * inputBits
	build := func() (*mhcv.MultiHotCountVec, error) {
		return mhcv.New(2, uint(bits), uint(most), chunkLength(bits+weightBits(most)), round[:])
	}
	vdaf, err := build()
	if err != nil {
		return nil, err
	}
	p.vdafs.New = func() any {
		vdaf, err := build()
		if err != nil {
			panic(err) // it was built before
		}
		return vdaf
	}
	p.vdafs.Put(vdaf)
	params := vdaf.Params()
	p.first, err = sized(new(mhcv.InputShare).New(&params, 1))
	if err == nil {
		p.second, err = sized(new(mhcv.InputShare).New(&params, 0))
	}
	if err == nil {
		p.prepared, err = sized(new(mhcv.PrepShare).New(&params))
	}
	return p, err
}

func sized(v interface{ MarshalBinary() ([]byte, error) }) (int, error) {
	data, err := v.MarshalBinary()
	return len(data), err
}

// weightBits is how many bits the proof adds: the number of bits set is at most B².
func weightBits(most int64) int { return bits.Len64(uint64(most)) }

// chunkLength returns the chunks with the shortest proof of a number of bits: of 2^k − 1 chunks, it is twice a chunk and 2^(k+1)
// elements long.
func chunkLength(bits int) uint {
	best, shortest := bits, math.MaxInt
	for p := 2; p <= 2*bits; p *= 2 {
		chunk := (bits + p - 2) / (p - 1)
		if n := 2*chunk + 2*p; n < shortest {
			best, shortest = chunk, n
		}
	}
	return uint(best)
}

func (p *proofs) vdaf() (v *mhcv.MultiHotCountVec, release func()) {
	v = p.vdafs.Get().(*mhcv.MultiHotCountVec)
	return v, func() { p.vdafs.Put(v) }
}

func (p *proofs) shareBytes(side fl.ShareSide) int {
	if side == fl.FirstServer {
		return publicBytes + p.first
	}
	return publicBytes + p.second
}

// aggregator is the number of a server in Prio3: the leader, 0, has the long share.
func aggregator(side fl.ShareSide) uint8 {
	if side == fl.SecondServer {
		return 0
	}
	return 1
}

func (p *proofs) split(first, second []byte, x []int64, rng *rand.Rand) ([]byte, []byte) {
	vdaf, release := p.vdaf()
	defer release()
	params := vdaf.Params()
	var random []byte
	for len(random) < nonceBytes+int(params.RandSize()) {
		random = binary.LittleEndian.AppendUint64(random, rng.Uint64())
	}
	inputs := make([]bool, inputBits*len(x))
	for i, v := range x {
		half := inputs[inputBits*i:][:inputBits]
		if v < 0 {
			half, v = half[inputBits/2:], -v
		}
		for j := range v * v {
			half[j] = true
		}
	}
	nonce := mhcv.Nonce(random)
	parts, shares, err := vdaf.Shard(inputs, &nonce, random[nonceBytes:])
	if err != nil {
		panic(fmt.Sprintf("prio3: %v", err)) // the integers are in the range
	}
	public := append(random[:nonceBytes:nonceBytes], parts...)
	appended := func(dst []byte, side fl.ShareSide) []byte {
		share, err := shares[aggregator(side)].MarshalBinary()
		if err != nil {
			panic(fmt.Sprintf("prio3: %v", err)) // it is a share
		}
		return append(append(dst, public...), share...)
	}
	return appended(first, fl.FirstServer), appended(second, fl.SecondServer)
}

func (p *proofs) check(side fl.ShareSide, share []byte) error {
	_, _, err := p.prepare(side, &fl.VerifyKey{}, share)
	return err
}

func (p *proofs) open(side fl.ShareSide, share []byte) ([]byte, error) {
	state, _, err := p.prepare(side, &fl.VerifyKey{}, share) // what it stands for does not depend on the key
	if err != nil {
		return nil, err
	}
	data, err := state.MarshalBinary()
	if err != nil {
		return nil, err
	}
	set := make(fp128.Vec, p.length*inputBits)
	if err := set.UnmarshalBinary(data[:len(set)*elementBytes]); err != nil {
		return nil, err
	}
	return folded(set).MarshalBinary()
}

// folded returns the integers that shares of their bits stand for, in thirds. It is linear.
func folded(set fp128.Vec) fp128.Vec {
	third := element(thirds)
	out := make(fp128.Vec, len(set)/inputBits)
	for i := range out {
		plus, minus := half(set[inputBits*i:], &third), half(set[inputBits*i+inputBits/2:], &third)
		out[i].Sub(&plus, &minus)
	}
	return out
}

// half returns what the bits of one sign stand for.
func half(set fp128.Vec, first *fp128.Fp) (v fp128.Fp) {
	v.Mul(first, &set[0])
	for i := 1; i < inputBits/2; i++ {
		v.AddAssign(&set[i])
	}
	return v
}

// prepare begins to verify a share: PrepInit of the draft.
func (p *proofs) prepare(side fl.ShareSide, key *fl.VerifyKey, share []byte) (*mhcv.PrepState, *mhcv.PrepShare, error) {
	vdaf, release := p.vdaf()
	defer release()
	params := vdaf.Params()
	nonce, parts := mhcv.Nonce(share), mhcv.PublicShare(share[nonceBytes:publicBytes])
	input := new(mhcv.InputShare).New(&params, uint(aggregator(side)))
	err := input.UnmarshalBinary(share[publicBytes:])
	if err != nil {
		return nil, nil, count.BadReport("share", fmt.Sprintf("%d bytes", len(share)), "must hold elements of the field: %v", err)
	}
	state, prepared, err := vdaf.PrepInit((*mhcv.VerifyKey)(key), &nonce, aggregator(side), parts, *input)
	if err != nil {
		return nil, nil, count.BadReport("share", fmt.Sprintf("%d bytes", len(share)), "must be a share of Prio3: %v", err)
	}
	return state, prepared, nil
}

func (p *proofs) newSum() sum { return newFieldSum(p.length) }

// preparedBytes is the length of what appendPrepared appends.
func (p *proofs) preparedBytes() int { return publicBytes + p.prepared }

// appendPrepared appends the second server's part of the check of a report.
func (p *proofs) appendPrepared(dst []byte, key *fl.VerifyKey, share []byte) ([]byte, error) {
	_, prepared, err := p.prepare(fl.SecondServer, key, share)
	if err != nil {
		return dst, err
	}
	data, err := prepared.MarshalBinary()
	if err != nil {
		return dst, err
	}
	return append(append(dst, share[:publicBytes]...), data...), nil
}

// verify checks a report with its first share and the second server's part. Where both servers have one public share,
// and each has found its own part in it, both have the same joint randomness.
func (p *proofs) verify(key *fl.VerifyKey, share, prepared []byte) error {
	if len(prepared) != p.preparedBytes() {
		return count.BadReport("prep_share", fmt.Sprintf("%d bytes", len(prepared)), "must have %d", p.preparedBytes())
	}
	if string(prepared[:publicBytes]) != string(share[:publicBytes]) {
		return count.BadReport("share", "other public bytes than the second server's", "must begin with the same %d bytes", publicBytes)
	}
	_, own, err := p.prepare(fl.FirstServer, key, share)
	if err != nil {
		return err
	}
	vdaf, release := p.vdaf()
	defer release()
	params := vdaf.Params()
	other := new(mhcv.PrepShare).New(&params)
	if err := other.UnmarshalBinary(prepared[publicBytes:]); err != nil {
		return count.BadReport("prep_share", fmt.Sprintf("%d bytes", len(prepared)), "must hold elements of the field: %v", err)
	}
	if _, err := vdaf.PrepSharesToPrep([]mhcv.PrepShare{*other, *own}); err != nil {
		return count.BadReport("share", "a vector", "must have a proof that it is no longer than the square root of %d: %v", p.most, err)
	}
	return nil
}

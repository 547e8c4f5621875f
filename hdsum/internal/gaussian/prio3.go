package gaussian

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// Inputs of Prio3SumVec are numbers of inputBits bits: the integers of a vector plus inputOffset.
const (
	inputBits   = 5
	inputOffset = 1 << (inputBits - 1)
)

// provedFineness is K/√d' where inputs are proved. A rotated coordinate of a gradient of norm C has a standard width of
// provedFineness units, so that the range keeps five of them.
const provedFineness = (inputOffset - 1) / 5

// maxProved is the largest d' with proofs. A share has 80 bytes a coordinate.
const maxProved = 1 << 16

// Before the input share, each share has what both servers get: the nonce and the public share, a seed's length for each of
// the two.
const (
	nonceBytes  = 16
	partsBytes  = 2 * 32
	publicBytes = nonceBytes + partsBytes
)

// proofs shares a vector as the inputs of Prio3SumVec (draft-irtf-cfrg-vdaf, section 7.4.3), with a proof that each integer is in
// [−16, 15].
type proofs struct {
	length                  int
	first, second, prepared int       // lengths of input shares and of a preparation share
	vdafs                   sync.Pool // of *sumvec.SumVec, which is for one goroutine
}

// newProofs returns the sharing of vectors of one round.
func newProofs(length int, round [32]byte) (*proofs, error) {
	p := &proofs{length: length}
	build := func() (*sumvec.SumVec, error) {
		return sumvec.New(2, uint(length), inputBits, chunkLength(length*inputBits), round[:])
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
	p.first, err = sized(new(sumvec.InputShare).New(&params, 1))
	if err == nil {
		p.second, err = sized(new(sumvec.InputShare).New(&params, 0))
	}
	if err == nil {
		p.prepared, err = sized(new(sumvec.PrepShare).New(&params))
	}
	return p, err
}

func sized(v interface{ MarshalBinary() ([]byte, error) }) (int, error) {
	data, err := v.MarshalBinary()
	return len(data), err
}

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

func (p *proofs) vdaf() (v *sumvec.SumVec, release func()) {
	v = p.vdafs.Get().(*sumvec.SumVec)
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
	inputs := make([]uint64, len(x))
	for i, v := range x {
		inputs[i] = uint64(v + inputOffset)
	}
	nonce := sumvec.Nonce(random)
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
	return data[:p.length*elementBytes], err
}

// prepare begins to verify a share: PrepInit of the draft.
func (p *proofs) prepare(side fl.ShareSide, key *fl.VerifyKey, share []byte) (*sumvec.PrepState, *sumvec.PrepShare, error) {
	vdaf, release := p.vdaf()
	defer release()
	params := vdaf.Params()
	nonce, parts := sumvec.Nonce(share), sumvec.PublicShare(share[nonceBytes:publicBytes])
	input := new(sumvec.InputShare).New(&params, uint(aggregator(side)))
	err := input.UnmarshalBinary(share[publicBytes:])
	if err != nil {
		return nil, nil, count.BadReport("share", fmt.Sprintf("%d bytes", len(share)), "must hold elements of the field: %v", err)
	}
	state, prepared, err := vdaf.PrepInit((*sumvec.VerifyKey)(key), &nonce, aggregator(side), parts, *input)
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
	other := new(sumvec.PrepShare).New(&params)
	if err := other.UnmarshalBinary(prepared[publicBytes:]); err != nil {
		return count.BadReport("prep_share", fmt.Sprintf("%d bytes", len(prepared)), "must hold elements of the field: %v", err)
	}
	if _, err := vdaf.PrepSharesToPrep([]sumvec.PrepShare{*other, *own}); err != nil {
		return count.BadReport("share", "a vector", "must have a proof that each of its integers is in [%d, %d]: %v", -inputOffset, inputOffset-1, err)
	}
	return nil
}

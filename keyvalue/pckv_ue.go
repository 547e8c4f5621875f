package keyvalue

import (
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// pckvUnary is PCKV-UE (Algorithm 2).
type pckvUnary struct {
	dim int
	weights
	background gaps // of the positions that hold noise
}

// gaps draws the number of zeros before the next non-zero position of the noise.
type gaps interface {
	gap(limit uint64, choose exact.Chooser) uint64
}

func newPCKVUnary(epsilon float64, dim int) (*pckvUnary, error) {
	// The total of a position of noise is h + 3w ≤ 2^62; the total of the pair's
	// position, 2h + 2w, is below 2^63.
	w, err := newWeights(epsilon, 1, 3)
	if err != nil {
		return nil, err
	}
	return &pckvUnary{dim: dim, weights: w, background: newGeometric(2*w.low, w.high+3*w.low)}, nil
}

// perturb appends the report of one sent pair. O(1 + dim·b) expected.
func (u *pckvUnary) perturb(dst []byte, sent signedKey, choose exact.Chooser) []byte {
	own := 0
	if sent.key < u.dim {
		own = choose.Weighted([]uint64{u.high + u.low, u.high, u.low})
	}
	next := 0 // the first position that is not written
	put := func(position int, minus bool) {
		dst = binary.AppendUvarint(dst, symbol(position-next, minus))
		next = position + 1
	}
	for position := 0; ; position++ {
		position += int(u.background.gap(uint64(u.dim-position), choose))
		if own > 0 && sent.key <= position {
			put(sent.key, sent.minus != (own == 2))
			own = 0
		}
		if position >= u.dim {
			return dst
		}
		if position != sent.key {
			put(position, choose.Uniform(2) == 1)
		}
	}
}

func (u *pckvUnary) channel() Channel {
	h, w := float64(u.high), float64(u.low)
	signal := float64(u.high - u.low)
	return Channel{Background: 2 * w / (h + 3*w), Hold: signal / (2 * (h + 3*w)), Sign: signal / (2 * (h + w))}
}

// read checks a report and calls visit, unless it is nil, with its non-zero positions.
func (u *pckvUnary) read(report []byte, visit func(key int, minus bool)) error {
	for next := 0; len(report) > 0; {
		v, n := binary.Uvarint(report)
		switch {
		case n <= 0:
			return count.BadReport("gap", hex(report), "must be a uvarint, the one from position %d on is not", next)
		case n > 1 && report[n-1] == 0:
			return count.BadReport("gap", hex(report[:n]), "must be the shortest uvarint, the one from position %d on is not", next)
		case v/2 >= uint64(u.dim-next):
			return count.BadReport("gap", v/2, "must lead from position %d to one below dim = %d", next, u.dim)
		}
		key := next + int(v/2)
		if visit != nil {
			visit(key, v%2 == 1)
		}
		next, report = key+1, report[n:]
	}
	return nil
}

// symbol is a number and a sign in one integer.
func symbol(n int, minus bool) uint64 {
	if minus {
		return 2*uint64(n) + 1
	}
	return 2 * uint64(n)
}

func hex(b []byte) string { return fmt.Sprintf("% x", b[:min(len(b), binary.MaxVarintLen64)]) }

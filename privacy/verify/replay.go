package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl/exact"
)

// replays is the number of runs of EncodeTernary, per input, and of Encode, per
// gradient, that are compared with what was enumerated.
const replays = 4

// replay checks that what was enumerated is what runs: EncodeTernary gives, from the
// same random numbers, the report of EncodeChoosing (of a Preparer, Encode and Prepare's function do); and the
// reports of Encode are possible ones, for gradients at the ends of what a client can hold.
func (c *check) replay(ctx context.Context, e *enumeration) error {
	for i, input := range e.inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		for range replays {
			var key [32]byte
			for i := range key {
				key[i] = byte(c.Rand.Uint32())
			}
			report, err := e.encode(i, rand.New(rand.NewChaCha8(key)))
			if err != nil {
				return err
			}
			rng := rand.New(rand.NewChaCha8(key))
			made, err := e.report(i, rng.Uint32())
			if err != nil {
				return err
			}
			want, err := made(exact.Rand{Rand: rng})
			if err != nil {
				return err
			}
			if !bytes.Equal(report, want) {
				c.report.fault("input %s: %s sends %x where %s sends %x", input, e.encodeName, report, e.reportName, want)
				return nil
			}
		}
	}
	again := e.again(e.limit)
	for _, g := range gradients(c.round) {
		for range replays {
			report, err := c.mechanism.Encode(nil, g.values(), c.Rand)
			if err != nil {
				return fmt.Errorf("gradient %s: %w", g.name, err)
			}
			if len(report) < 4 {
				c.report.fault("gradient %s: Encode sends %x, must start with a seed", g.name, report)
				return nil
			}
			// All inputs have the same support, or the ratio is infinite.
			law, err := again.law(ctx, 0, binary.LittleEndian.Uint32(report))
			if err != nil {
				return err
			}
			if law[string(report)] == nil {
				c.report.fault("gradient %s: Encode sends %x, which no input should", g.name, report)
				return nil
			}
		}
	}
	return nil
}

package abi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// encodeArgs are the arguments of encode. First is the number of the first row, for errors: a caller
// may send its rows in several requests.
type encodeArgs struct {
	Round uint64 `json:"round"`
	Type  string `json:"type"`
	Rows  int    `json:"rows"`
	First int    `json:"first"`
}

// encode makes one report of each row. In a round that asks for tokens there is one.
func encode(ctx context.Context, _ *Session, r *round, args encodeArgs, payload []byte) (any, []byte, error) {
	if r.accepted == nil {
		return nil, nil, fmt.Errorf("%w: %w", fl.ErrPolicy, fl.Invalid("policy", "nothing", "is required to encode"))
	}
	width, err := widthOf(args.Type)
	if err != nil {
		return nil, nil, err
	}
	if args.Rows < 1 || args.Rows > fl.MaxBatch {
		return nil, nil, fl.Invalid("rows", args.Rows, "must be in [1, %d]", fl.MaxBatch)
	}
	if err := r.admission.admits(args.Rows); err != nil {
		return nil, nil, err
	}
	size := width * r.Dim
	if len(payload) != args.Rows*size {
		return nil, nil, fl.Invalid("rows", fmt.Sprintf("%d bytes", len(payload)), "must have %d: rows times dim = %d times %d bytes", args.Rows*size, r.Dim, width)
	}
	defer func() { clear(r.narrow); clear(r.wide) }() // the gradient is not needed any more
	private := fl.NewRand()
	reports := make([][]byte, args.Rows)
	for i := range reports {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if reports[i], err = r.encode(payload[i*size:(i+1)*size], width, private); err != nil {
			return nil, nil, fmt.Errorf("rows[%d]: %w", args.First+i, err)
		}
	}
	packed, err := r.pack(reports)
	if err == nil && r.admission != nil {
		r.admission.spent = true
	}
	return none{}, packed, err
}

// encode makes a report of a row, under the terms that were accepted.
func (r *round) encode(row []byte, width int, private *rand.Rand) ([]byte, error) {
	var grad []float64
	if width == 4 {
		narrow := numbersOf(row, &r.narrow)
		if m, ok := r.mechanism.(fl.Float32Mechanism); ok && r.terms.Tier == 0 {
			return m.EncodeFloat32(nil, narrow, private)
		}
		grad = widened(narrow, &r.wide)
	} else {
		grad = numbersOf(row, &r.wide)
	}
	if menu, ok := r.mechanism.(fl.TieredMechanism); ok {
		return menu.EncodeTier(nil, r.terms.Tier, grad, private)
	}
	return r.mechanism.Encode(nil, grad, private)
}

// pack joins reports as they leave. In a round with a shuffler they leave sealed, and the token with
// its report.
func (r *round) pack(reports [][]byte) ([]byte, error) {
	if r.sealing == nil {
		return fl.PackReports(r.mechanism, nil, reports...)
	}
	if r.admission != nil {
		return r.sealing.Item(reports[0], r.admission.tokens[0]) // the second one is not sealed: the shuffler spends it
	}
	items, err := r.sealing.Items(reports)
	return slices.Concat(items...), err
}

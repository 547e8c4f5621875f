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
	if err := r.checkEncodes(); err != nil {
		return nil, nil, err
	}
	if err := r.admission.admits(args.Rows); err != nil {
		return nil, nil, err
	}
	width, err := r.checkRows(args.Type, args.Rows, payload)
	if err != nil {
		return nil, nil, err
	}
	defer r.forget()
	size := width * r.Dim
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
	packed, err := r.send(reports)
	return none{}, packed, err
}

// checkEncodes refuses a round that was opened without a policy.
func (r *round) checkEncodes() error {
	if r.accepted == nil {
		return fmt.Errorf("%w: %w", fl.ErrPolicy, fl.Invalid("policy", "nothing", "is required to encode"))
	}
	return nil
}

// checkRows compares a payload with the number of its rows, and returns the bytes of a number.
func (r *round) checkRows(kind string, rows int, payload []byte) (width int, err error) {
	if width, err = widthOf(kind); err != nil {
		return 0, err
	}
	if rows < 1 || rows > fl.MaxBatch {
		return 0, fl.Invalid("rows", rows, "must be in [1, %d]", fl.MaxBatch)
	}
	if want := rows * width * r.Dim; len(payload) != want {
		return 0, fl.Invalid("rows", fmt.Sprintf("%d bytes", len(payload)), "must have %d: rows times dim = %d times %d bytes", want, r.Dim, width)
	}
	return width, nil
}

// forget overwrites the gradients, which are not needed any more.
func (r *round) forget() { clear(r.narrow); clear(r.wide) }

// send packs the reports of a request, for which the round's token, if it asks for one, is spent.
func (r *round) send(reports [][]byte) ([]byte, error) {
	packed, err := r.pack(reports)
	if err == nil && r.admission != nil {
		r.admission.spent = true
	}
	return packed, err
}

// wideRow returns the numbers of a row.
func (r *round) wideRow(row []byte, width int) []float64 {
	if width == 4 {
		return widened(numbersOf(row, &r.narrow), &r.wide)
	}
	return numbersOf(row, &r.wide)
}

// encode makes a report of a row, under the terms that were accepted.
func (r *round) encode(row []byte, width int, private *rand.Rand) ([]byte, error) {
	assigned := r.admission.assigns(r.mechanism)
	if m, ok := assigned.(fl.Float32Mechanism); ok && width == 4 && r.terms.Tier == 0 {
		return m.EncodeFloat32(nil, numbersOf(row, &r.narrow), private)
	}
	grad := r.wideRow(row, width)
	if menu, ok := assigned.(fl.TieredMechanism); ok {
		return menu.EncodeTier(nil, r.terms.Tier, grad, private)
	}
	return assigned.Encode(nil, grad, private)
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

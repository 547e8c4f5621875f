package abi

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// Names of the number types of rows.
const (
	typeFloat32 = "f4"
	typeFloat64 = "f8"
)

// encodeArgs are the arguments of encode.
type encodeArgs struct {
	Round uint64 `json:"round"`
	Type  string `json:"type"`
	Rows  int    `json:"rows"`
}

// encode makes one report of each row.
func encode(ctx context.Context, s *Session, args encodeArgs, payload []byte) (any, []byte, error) {
	r, err := held[*round](s, "round", args.Round)
	if err != nil {
		return nil, nil, err
	}
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
	size := width * r.Dim
	if len(payload) != args.Rows*size {
		return nil, nil, fl.Invalid("rows", fmt.Sprintf("%d bytes", len(payload)), "must have %d: rows times dim = %d times %d bytes", args.Rows*size, r.Dim, width)
	}
	if r.wide == nil {
		r.wide = make([]float64, r.Dim)
	}
	defer clear(r.wide) // the gradient is not needed any more
	private := fl.NewRand()
	reports := make([][]byte, args.Rows)
	for i := range reports {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		widen(r.wide, payload[i*size:(i+1)*size], width)
		if reports[i], err = r.encode(r.wide, private); err != nil {
			return nil, nil, fmt.Errorf("rows[%d]: %w", i, err)
		}
	}
	packed, err := r.pack(reports)
	return none{}, packed, err
}

// encode makes a report of a gradient, under the terms that were accepted.
func (r *round) encode(grad []float64, private *rand.Rand) ([]byte, error) {
	if menu, ok := r.mechanism.(fl.TieredMechanism); ok {
		return menu.EncodeTier(nil, r.terms.Tier, grad, private)
	}
	return r.mechanism.Encode(nil, grad, private)
}

// pack joins reports as they leave. In a round with a shuffler they leave sealed.
func (r *round) pack(reports [][]byte) ([]byte, error) {
	if r.sealing == nil {
		return fl.PackReports(r.mechanism, nil, reports...)
	}
	items, err := r.sealing.Items(reports)
	return slices.Concat(items...), err
}

func widthOf(name string) (int, error) {
	switch name {
	case typeFloat32:
		return 4, nil
	case typeFloat64:
		return 8, nil
	}
	return 0, fl.Invalid("type", name, "must be %s or %s", typeFloat32, typeFloat64)
}

// widen reads little-endian numbers of width bytes. Every float32 is a float64.
func widen(row []float64, data []byte, width int) {
	if width == 4 {
		for i := range row {
			row[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
		return
	}
	for i := range row {
		row[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
}

package abi

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

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
	private := fl.NewRand()
	var packed, report []byte
	for i := range args.Rows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		widen(r.wide, payload[i*size:(i+1)*size], width)
		if report, err = r.mechanism.Encode(report[:0], r.wide, private); err != nil {
			return nil, nil, fmt.Errorf("rows[%d]: %w", i, err)
		}
		if packed, err = fl.PackReports(r.mechanism, packed, report); err != nil {
			return nil, nil, err
		}
	}
	clear(r.wide) // the gradient is not needed any more
	return none{}, packed, nil
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

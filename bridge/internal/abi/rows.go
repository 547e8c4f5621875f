package abi

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/hushgrad/hushgrad/fl"
)

// Names of the number types of rows.
const (
	typeFloat32 = "f4"
	typeFloat64 = "f8"
)

func widthOf(name string) (int, error) {
	switch name {
	case typeFloat32:
		return 4, nil
	case typeFloat64:
		return 8, nil
	}
	return 0, fl.Invalid("type", name, "must be %s or %s", typeFloat32, typeFloat64)
}

// hostIsLittle says whether this machine keeps numbers as they come in rows.
var hostIsLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// float32s returns the numbers of a row. They are the row's own memory where the machine can read
// it as it is, and otherwise are written to *scratch.
func float32s(row []byte, scratch *[]float32) []float32 {
	if p := unsafe.Pointer(unsafe.SliceData(row)); hostIsLittle && uintptr(p)%4 == 0 {
		return unsafe.Slice((*float32)(p), len(row)/4)
	}
	out := sized(scratch, len(row)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
	}
	return out
}

// float64s is as float32s.
func float64s(row []byte, scratch *[]float64) []float64 {
	if p := unsafe.Pointer(unsafe.SliceData(row)); hostIsLittle && uintptr(p)%8 == 0 {
		return unsafe.Slice((*float64)(p), len(row)/8)
	}
	out := sized(scratch, len(row)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(row[8*i:]))
	}
	return out
}

// widened returns float32 numbers as float64, written to *scratch. Every float32 is a float64.
func widened(row []float32, scratch *[]float64) []float64 {
	out := sized(scratch, len(row))
	for i, x := range row {
		out[i] = float64(x)
	}
	return out
}

func sized[F float32 | float64](scratch *[]F, n int) []F {
	if cap(*scratch) < n {
		*scratch = make([]F, n)
	}
	return (*scratch)[:n]
}

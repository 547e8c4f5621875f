package abi

import (
	"encoding/binary"
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

// numbersOf returns the numbers of a row. They are the row's own memory where the machine can read
// it as it is, and otherwise are written to *scratch.
func numbersOf[F float32 | float64](row []byte, scratch *[]F) []F {
	width := int(unsafe.Sizeof(F(0)))
	if p := unsafe.Pointer(unsafe.SliceData(row)); hostIsLittle && uintptr(p)%uintptr(width) == 0 {
		return unsafe.Slice((*F)(p), len(row)/width)
	}
	out := sized(scratch, len(row)/width)
	_, _ = binary.Decode(row, binary.LittleEndian, out) // which has as many
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

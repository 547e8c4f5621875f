package ternarize

import "golang.org/x/sys/cpu"

// vectorBlocks is the number of blocks of one call: the runtime cannot stop a goroutine during it.
const vectorBlocks = 1 << 10

// weighVectors is weighBlocks for the whole blocks, on processors that weigh four coordinates with an
// instruction. It returns how many blocks it weighed, and whether all of their coordinates are finite.
func weighVectors[F number](blocks []uint64, grad []F, r weighing) (weighed int, finite bool) {
	if !cpu.X86.HasAVX2 {
		return 0, true
	}
	for whole := len(grad) / blockSize; weighed < whole; {
		n := min(whole-weighed, vectorBlocks)
		switch first := any(&grad[weighed*blockSize]).(type) {
		case *float64:
			finite = weighFloat64(&blocks[weighed], first, n, r.perUnit, r.unit)
		case *float32:
			finite = weighFloat32(&blocks[weighed], first, n, r.perUnit, r.unit)
		}
		if !finite {
			return weighed, false
		}
		weighed += n
	}
	return weighed, true
}

// weighFloat64 writes the sums of the weights of n > 0 blocks, and reports whether all of their
// coordinates are finite.
//
//go:noescape
func weighFloat64(blocks *uint64, grad *float64, n int, perUnit, unit float64) bool

// weighFloat32 is weighFloat64 for a gradient of float32.
//
//go:noescape
func weighFloat32(blocks *uint64, grad *float32, n int, perUnit, unit float64) bool

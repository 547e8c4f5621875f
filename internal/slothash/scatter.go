package slothash

// scatter adds ±1 at random places of a large array. Places of one region of the
// array, which fits a processor's own cache, are collected and applied together:
// an addition then costs two accesses near the core instead of one to memory.
// Arrays of a few regions are written directly.
type scatter struct {
	array   []int32
	pending [][]uint32 // by region: place·2 + 1 for −1
}

const (
	regionBits  = 16   // 2^16 counters of 4 bytes: 256 KiB
	regionQueue = 2048 // additions collected per region
	directBits  = 18   // arrays up to this size are written directly
)

func newScatter(array []int32) *scatter {
	s := &scatter{array: array}
	if len(array) > 1<<directBits {
		s.pending = make([][]uint32, (len(array)-1)>>regionBits+1)
	}
	return s
}

// add adds 1 − 2·minus at a place; minus is 0 or 1.
func (s *scatter) add(place, minus uint32) {
	if s.pending == nil {
		s.array[place] += 1 - 2*int32(minus)
		return
	}
	queue := &s.pending[place>>regionBits]
	*queue = append(*queue, place<<1|minus)
	if len(*queue) == regionQueue {
		s.apply(queue)
	}
}

func (s *scatter) apply(queue *[]uint32) {
	for _, q := range *queue {
		s.array[q>>1] += 1 - 2*int32(q&1)
	}
	*queue = (*queue)[:0]
}

// values applies everything that was collected and returns the array.
func (s *scatter) values() []int32 {
	for i := range s.pending {
		s.apply(&s.pending[i])
	}
	return s.array
}

package slothash

// Layout says how an item (coordinate j, sign b) falls into a slot.
type Layout uint8

const (
	// Paired layouts hash the coordinate to a slot for +; the slot for − is the
	// other one of the pair {2i, 2i+1} (CoCo). The number of slots is even.
	Paired Layout = iota
	// Separate layouts hash (j, +) and (j, −) on their own (Collision).
	Separate
)

// Item returns the slot of (coordinate, sign) under f.
func (l Layout) Item(f Func, coordinate uint32, sign int8) uint32 {
	minus := uint32(0)
	if sign < 0 {
		minus = 1
	}
	if l == Paired {
		return f.Slot(coordinate) ^ minus
	}
	return f.Slot(2*coordinate + minus)
}

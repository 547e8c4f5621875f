package journal

// Batch is a list of changes that are made together. The zero value is an empty batch. It
// keeps the slices that it is given, which must not change before Commit returns.
type Batch struct{ changes []Change }

// Change is one change of a batch: the value at Key becomes Value, or, when To is not nil, all
// keys in [Key, To) lose their values.
type Change struct{ Key, Value, To []byte }

// Put sets the value at key, which must not be empty.
func (b *Batch) Put(key, value []byte) { b.changes = append(b.changes, Change{Key: key, Value: value}) }

// Delete removes the keys in [from, to) with their values. to must not be empty.
func (b *Batch) Delete(from, to []byte) { b.changes = append(b.changes, Change{Key: from, To: to}) }

// Changes returns the changes in their order.
func (b *Batch) Changes() []Change { return b.changes }

// Bytes is the length of all keys and values.
func (b *Batch) Bytes() int {
	n := 0
	for _, c := range b.changes {
		n += len(c.Key) + len(c.Value) + len(c.To)
	}
	return n
}

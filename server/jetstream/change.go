package jetstream

import (
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Changes of the state, as they are in the stream: 'P' with a key and a value, or 'D' with the two
// ends of a range, each after its length as a varint.
const (
	opPut    = 'P'
	opDelete = 'D'
)

// maxChanges bounds a batch.
const maxChanges = 1 << 20

func marshalBatch(b *journal.Batch) []byte {
	out := make([]byte, 0, b.Bytes()+16*len(b.Changes()))
	field := func(data []byte) { out = append(binary.AppendUvarint(out, uint64(len(data))), data...) }
	for _, c := range b.Changes() {
		if c.To != nil {
			out = append(out, opDelete)
			field(c.Key)
			field(c.To)
			continue
		}
		out = append(out, opPut)
		field(c.Key)
		field(c.Value)
	}
	return out
}

// parseBatch is the inverse of marshalBatch. The batch keeps parts of data. The error is a
// *fl.ParamError.
func parseBatch(data []byte) (*journal.Batch, error) {
	b := &journal.Batch{}
	rest := data
	refuse := func(rule string) (*journal.Batch, error) {
		return nil, fl.Invalid("batch", fmt.Sprintf("%d bytes, at %d", len(data), len(data)-len(rest)), "%s", rule)
	}
	field := func() (out []byte, ok bool) {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return nil, false
		}
		out, rest = rest[size:size+int(n):size+int(n)], rest[size+int(n):]
		return out, true
	}
	for len(rest) > 0 {
		op := rest[0]
		rest = rest[1:]
		first, ok := field()
		if !ok {
			return refuse("must have a key here")
		}
		second, ok := field()
		switch {
		case !ok:
			return refuse("must have a value or an end here")
		case len(b.Changes()) >= maxChanges:
			return refuse("must have fewer changes")
		case op == opPut && len(first) > 0:
			b.Put(first, second)
		case op == opDelete && len(second) > 0:
			b.Delete(first, second)
		default:
			return refuse("must be a known change with a key here")
		}
	}
	return b, nil
}

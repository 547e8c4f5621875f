package hdsum

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/hushgrad/hushgrad/fl"
)

// Forms of a report, its first byte.
const (
	formPlain = 0
	formZstd  = 1
)

// codec writes and reads reports. A report is a byte for its form and a body, plain
// or as one zstd frame. The body is, for each entry of the multiset in order,
//
//	uvarint  instance − the previous entry's instance
//	varint   value − the previous entry's value in the same instance, or value
//	uvarint  count − 1
//
// and it ends with the last entry. See docs/report-format.md.
type codec struct {
	instances  int
	maxEntries int
	encoder    *zstd.Encoder
	decoder    *zstd.Decoder
}

// maxEntryBytes is the longest entry: three varints.
const maxEntryBytes = 3 * binary.MaxVarintLen64

// maxCount bounds the number of equal messages that one report may claim.
const maxCount = 1 << 48

func newCodec(instances, maxEntries int) (*codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	// The decoder's limit also bounds its window, which has a least size.
	const leastMemory = 64 << 10
	limit := uint64(max(leastMemory, maxEntryBytes*maxEntries))
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(limit), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &codec{instances: instances, maxEntries: maxEntries, encoder: encoder, decoder: decoder}, nil
}

// append appends the report of a multiset, in the shorter of its forms.
func (c *codec) append(dst []byte, m Multiset) []byte {
	start := len(dst)
	dst = append(dst, formPlain)
	dst = appendBody(dst, m)
	packed := c.encoder.EncodeAll(dst[start+1:], nil)
	if len(packed) < len(dst)-start-1 {
		dst = append(append(dst[:start], formZstd), packed...)
	}
	return dst
}

func appendBody(dst []byte, m Multiset) []byte {
	var instance uint32
	var value int64
	for _, message := range m {
		if message.Instance != instance {
			value = 0
		}
		dst = binary.AppendUvarint(dst, uint64(message.Instance-instance))
		dst = binary.AppendVarint(dst, message.Value-value)
		dst = binary.AppendUvarint(dst, uint64(message.Count-1))
		instance, value = message.Instance, message.Value
	}
	return dst
}

// parse appends the entries of a report to dst. It returns an error wrapping
// fl.ErrBadReport for every body that append does not write.
func (c *codec) parse(dst Multiset, report []byte) (Multiset, error) {
	if len(report) == 0 {
		return nil, bad("length: got 0 bytes, must have at least the form")
	}
	body := report[1:]
	switch report[0] {
	case formPlain:
	case formZstd:
		var err error
		if body, err = c.decoder.DecodeAll(body, nil); err != nil {
			return nil, bad("zstd: %v", err)
		}
	default:
		return nil, bad("form: got %d, must be %d or %d", report[0], formPlain, formZstd)
	}
	start := len(dst)
	var instance uint64
	var value int64
	for at := 0; at < len(body); {
		if len(dst)-start == c.maxEntries {
			return nil, bad("entries: got more than %d", c.maxEntries)
		}
		step, n1 := binary.Uvarint(body[at:])
		if n1 <= 0 {
			return nil, bad("byte %d: broken instance", at)
		}
		change, n2 := binary.Varint(body[at+n1:])
		if n2 <= 0 {
			return nil, bad("byte %d: broken value", at+n1)
		}
		more, n3 := binary.Uvarint(body[at+n1+n2:])
		if n3 <= 0 {
			return nil, bad("byte %d: broken count", at+n1+n2)
		}
		if overlong(body[at:at+n1]) || overlong(body[at+n1:at+n1+n2]) || overlong(body[at+n1+n2:at+n1+n2+n3]) {
			return nil, bad("byte %d: entry with needless bytes", at)
		}
		first := at == 0
		at += n1 + n2 + n3
		switch {
		case step >= uint64(c.instances) || instance+step >= uint64(c.instances):
			return nil, bad("instance: got %d after %d, must be below %d", step, instance, c.instances)
		case step == 0 && !first && (change <= 0 || value > math.MaxInt64-change):
			return nil, bad("instance %d: values must increase", instance)
		case more >= maxCount:
			return nil, bad("instance %d: count: got %d, must be at most %d", instance+step, more, int64(maxCount))
		}
		if step > 0 {
			value = 0
		}
		instance, value = instance+step, value+change
		dst = append(dst, Message{Instance: uint32(instance), Value: value, Count: int64(more) + 1})
	}
	return dst, nil
}

// overlong reports whether a varint has a shorter form: its highest bits are 0.
func overlong(varint []byte) bool { return len(varint) > 1 && varint[len(varint)-1] == 0 }

func bad(format string, args ...any) error {
	return fmt.Errorf("hdsum: %w: "+format, append([]any{fl.ErrBadReport}, args...)...)
}

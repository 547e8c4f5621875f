package hdsum

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/hushgrad/hushgrad/fl"
)

// Message is one message of one instance, or Count equal ones.
type Message struct {
	Instance uint32
	// Value is a signed integer of at most U' with GKMPS and a share in {0, …, q−1}
	// with BBGN.
	Value int64
	Count int64 // at least 1
}

// Multiset is what one client sends: its messages by instance and value, strictly
// increasing. The order in which they were drawn is gone.
type Multiset []Message

// Messages is the number of messages, equal ones counted as often as they occur.
func (m Multiset) Messages() int64 {
	var total int64
	for _, message := range m {
		total += message.Count
	}
	return total
}

// compareMessages orders messages by instance, then by value.
func compareMessages(a, b Message) int {
	if a.Instance != b.Instance { // cmp.Or would compare all values, in most of the time of a sort
		return cmp.Compare(a.Instance, b.Instance)
	}
	return cmp.Compare(a.Value, b.Value)
}

// canonical sorts messages and merges equal ones, in place.
func canonical(messages []Message) Multiset {
	slices.SortFunc(messages, compareMessages)
	kept := messages[:0]
	for _, message := range messages {
		if last := len(kept) - 1; last >= 0 && compareMessages(kept[last], message) == 0 {
			kept[last].Count += message.Count
			continue
		}
		kept = append(kept, message)
	}
	return kept
}

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

// parse returns the entries of a report. It returns an error wrapping
// fl.ErrBadReport for every body that append does not write.
func (c *codec) parse(report []byte) (Multiset, error) {
	if len(report) == 0 {
		return nil, bad("report", "0 bytes", "must have at least the byte of its form")
	}
	body := report[1:]
	switch report[0] {
	case formPlain:
	case formZstd:
		var err error
		if body, err = c.decoder.DecodeAll(body, nil); err != nil {
			return nil, bad("body", err, "must be one zstd frame of at most %d entries", c.maxEntries)
		}
	default:
		return nil, bad("form", report[0], "must be %d or %d", formPlain, formZstd)
	}
	return c.parseBody(body)
}

func (c *codec) parseBody(body []byte) (m Multiset, err error) {
	var instance uint64
	var value int64
	for at := 0; at < len(body); {
		if len(m) == c.maxEntries {
			return nil, bad("entries", fmt.Sprintf("more than %d", len(m)), "must be at most %d", c.maxEntries)
		}
		e, size := readEntry(body[at:])
		switch {
		case size == 0:
			return nil, bad("body", fmt.Sprintf("% x… at byte %d", body[at:min(len(body), at+4)], at), "must be three varints of the shortest form for each entry")
		case e.step >= uint64(c.instances) || instance+e.step >= uint64(c.instances):
			return nil, bad("instance", fmt.Sprintf("%d + %d", instance, e.step), "must be below %d", c.instances)
		case e.step == 0 && at > 0 && (e.change <= 0 || value > math.MaxInt64-e.change):
			return nil, bad("value", fmt.Sprintf("%d + %d", value, e.change), "must increase within instance %d", instance)
		case e.more >= maxCount:
			return nil, bad("count", e.more, "must be less than %d, in instance %d", int64(maxCount), instance+e.step)
		}
		if e.step > 0 {
			value = 0
		}
		at, instance, value = at+size, instance+e.step, value+e.change
		m = append(m, Message{Instance: uint32(instance), Value: value, Count: int64(e.more) + 1})
	}
	return m, nil
}

// entry is one entry of a body, relative to the one before it.
type entry struct {
	step   uint64 // to the next instance
	change int64  // of the value
	more   uint64 // count − 1
}

// readEntry returns the entry that b begins with and its size, 0 when it is not whole or
// has needless bytes.
func readEntry(b []byte) (e entry, size int) {
	var n int
	if e.step, n = binary.Uvarint(b); !shortest(b, n) {
		return e, 0
	}
	size = n
	if e.change, n = binary.Varint(b[size:]); !shortest(b[size:], n) {
		return e, 0
	}
	size += n
	if e.more, n = binary.Uvarint(b[size:]); !shortest(b[size:], n) {
		return e, 0
	}
	return e, size + n
}

// shortest reports whether b begins with a whole varint of n bytes that has no shorter
// form: a longer one ends with a byte 0.
func shortest(b []byte, n int) bool { return n == 1 || n > 1 && b[n-1] != 0 }

// bad returns an error about a report that no client sends.
func bad(what string, got any, rule string, args ...any) error {
	return fmt.Errorf("hdsum: %w: %w", fl.ErrBadReport, fl.Invalid(what, got, rule, args...))
}

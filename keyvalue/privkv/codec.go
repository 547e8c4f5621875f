package privkv

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

// codec writes a key and a message as one integer.
type codec struct {
	limit    uint32 // dim·messages, at most 2^30
	messages uint32
	bytes    int
}

func newCodec(dim, messages int) codec {
	limit := uint32(dim * messages)
	return codec{limit: limit, messages: uint32(messages), bytes: (bits.Len32(limit-1) + 7) / 8}
}

func (c codec) append(dst []byte, key, message uint32) []byte {
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], key*c.messages+message)
	return append(dst, code[:c.bytes]...)
}

func (c codec) parse(report []byte) (key, message uint32, err error) {
	if len(report) != c.bytes {
		return 0, 0, fmt.Errorf("%w: length: got %d bytes, must be %d", fl.ErrBadReport, len(report), c.bytes)
	}
	var padded [4]byte
	copy(padded[:], report)
	code := binary.LittleEndian.Uint32(padded[:])
	if code >= c.limit {
		return 0, 0, fmt.Errorf("%w: code: got %d, must be below %d", fl.ErrBadReport, code, c.limit)
	}
	return code / c.messages, code % c.messages, nil
}

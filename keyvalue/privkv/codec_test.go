package privkv

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The last code of every size survives, and the next one is refused.
func TestCodesFillTheirBytes(t *testing.T) {
	for _, c := range []struct{ dim, messages, bytes int }{
		{1, 3, 1}, {85, 3, 1}, {86, 3, 2}, {32, 8, 1}, {33, 8, 2}, {8192, 8, 2}, {8193, 8, 3}, {1 << 21, 8, 3}, {fl.MaxDim, 3, 4}, {fl.MaxDim, 8, 4},
	} {
		codec := newCodec(c.dim, c.messages)
		last := codec.append(nil, uint32(c.dim-1), uint32(c.messages-1))
		if len(last) != c.bytes {
			t.Errorf("%+v: %d bytes", c, len(last))
		}
		if key, message, err := codec.parse(last); err != nil || int(key) != c.dim-1 || int(message) != c.messages-1 {
			t.Errorf("%+v: the last code % x is message %d of key %d, %v", c, last, message, key, err)
		}
		if code := c.dim * c.messages; code%256 != 0 { // else the next code has one byte more
			last[0]++
			if _, _, err := codec.parse(last); !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("%+v: code % x: %v, want ErrBadReport", c, last, err)
			}
		}
	}
}

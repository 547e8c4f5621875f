package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
)

// read returns what envelopes hands on of a body, and its error, nil at the end.
func read(body io.Reader, most uint32) ([]byte, error) {
	return io.ReadAll(&envelopes{ReadCloser: io.NopCloser(body), most: most})
}

func envelope(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

func TestEnvelopesAreHandedOnWhole(t *testing.T) {
	two := append(envelope([]byte("first")), envelope(bytes.Repeat([]byte("x"), 3000))...)
	for name, c := range map[string]struct {
		body []byte
		want []byte
		err  error
	}{
		"nothing":         {nil, nil, nil},
		"two messages":    {two, two, nil},
		"an empty one":    {envelope(nil), envelope(nil), nil},
		"a cut envelope":  {two[:3], nil, io.ErrUnexpectedEOF},
		"a cut message":   {two[:len(two)-1], envelope([]byte("first")), io.ErrUnexpectedEOF},
		"one as allowed":  {envelope(make([]byte, 4000)), envelope(make([]byte, 4000)), nil},
		"one that is big": {envelope(make([]byte, 4001)), envelope(make([]byte, 4001))[:envelopeBytes], io.ErrUnexpectedEOF},
	} {
		for _, slow := range []bool{false, true} {
			var body io.Reader = bytes.NewReader(c.body)
			if slow {
				body = iotest.OneByteReader(body)
			}
			if got, err := read(body, 4000); !bytes.Equal(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("%s: %d bytes, %v, want %d, %v", name, len(got), err, len(c.want), c.err)
			}
		}
	}
}

// A length that is promised takes no memory.
func TestAPromisedLengthTakesNoMemory(t *testing.T) {
	const most = 1 << 30
	body := binary.BigEndian.AppendUint32([]byte{0}, most)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := read(bytes.NewReader(append(body, 1, 2, 3)), most); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want %v", err, io.ErrUnexpectedEOF)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("%d bytes for 3", after.TotalAlloc-before.TotalAlloc)
	}
}

// What is handed on is a beginning of the body, and all of it where it is whole messages.
func FuzzEnvelopes(f *testing.F) {
	f.Add(envelope([]byte("first")), uint32(9))
	f.Add(append(envelope(nil), 1, 2), uint32(9))
	f.Add([]byte{0, 255, 255, 255, 255, 1}, uint32(1<<31))
	f.Fuzz(func(t *testing.T, body []byte, most uint32) {
		got, err := read(bytes.NewReader(body), most)
		if !bytes.HasPrefix(body, got) || err == nil && len(got) != len(body) {
			t.Errorf("%x, %v of %x", got, err, body)
		}
	})
}

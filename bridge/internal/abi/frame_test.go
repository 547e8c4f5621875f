package abi

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// framed returns the bytes of a frame.
func framed(t testing.TB, header string, payload []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeFrame(&b, []byte(header), payload); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// prefixed returns the lengths of a frame.
func prefixed(header uint32, payload uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, header), payload)
}

func TestFramesComeBackAsTheyWereWritten(t *testing.T) {
	stream := append(framed(t, `{"a":1}`, []byte("payload")), framed(t, "", nil)...)
	frames := &frameReader{in: bytes.NewReader(stream)}
	for _, want := range []struct{ header, payload string }{{`{"a":1}`, "payload"}, {"", ""}} {
		header, payload, err := frames.next()
		if err != nil || string(header) != want.header || string(payload) != want.payload {
			t.Errorf("read %q and %q, %v; want %q and %q", header, payload, err, want.header, want.payload)
		}
	}
	if _, _, err := frames.next(); !ended(err) {
		t.Errorf("the end of the stream is %v", err)
	}
}

func TestACutFrameIsNotTheEnd(t *testing.T) {
	whole := framed(t, `{"a":1}`, []byte("payload"))
	for n := 1; n < len(whole); n++ {
		if _, _, err := (&frameReader{in: bytes.NewReader(whole[:n])}).next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v, want %v", n, len(whole), err, io.ErrUnexpectedEOF)
		}
	}
}

func TestLengthsAreLimitedBeforeMemoryIsTaken(t *testing.T) {
	for name, prefix := range map[string][]byte{
		"header": prefixed(MaxHeader+1, 0), "payload": prefixed(0, MaxPayload+1), "largest payload": prefixed(0, math.MaxUint64),
	} {
		var param *fl.ParamError
		if _, _, err := (&frameReader{in: bytes.NewReader(prefix)}).next(); !errors.As(err, &param) {
			t.Errorf("%s: %v, want a *fl.ParamError", name, err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := (&frameReader{in: bytes.NewReader(prefixed(0, MaxPayload))}).next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a promised payload that does not come: %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("a length alone took %d bytes", took)
	}
}

func TestServeGreetsAnswersAndEndsWithTheStream(t *testing.T) {
	requests := append(framed(t, `{"op":"dance"}`, nil), framed(t, `{"op":"round.open","args":{}}`, []byte("no round"))...)
	var out bytes.Buffer
	if err := Serve(context.Background(), bytes.NewReader(requests), &out, nil); err != nil {
		t.Fatal(err)
	}
	answers := &frameReader{in: &out}
	header, _, err := answers.next()
	var greeting struct {
		Protocol   int
		Mechanisms []string
	}
	if err != nil || json.Unmarshal(header, &greeting) != nil || greeting.Protocol != Protocol || len(greeting.Mechanisms) < 3 {
		t.Errorf("greeted with %s, %v", header, err)
	}
	for range 2 {
		var r reply
		if header, _, err = answers.next(); err != nil || json.Unmarshal(header, &r) != nil || r.Error == nil {
			t.Errorf("a bad request is answered with %s, %v", header, err)
		}
	}
	if _, _, err := answers.next(); !ended(err) {
		t.Errorf("after the last answer: %v", err)
	}
	if err := Serve(context.Background(), bytes.NewReader(requests[:5]), io.Discard, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut stream ends with %v", err)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(framed(f, `{"op":"round.new","args":{"id":"r","mechanism":"coco","dim":4,"scale":1,"epsilon":4,"min_reports":1,"params":{"sparsity":2}}}`, nil))
	f.Add(append(framed(f, `{"op":"aggregator","release":[1],"args":{"round":1}}`, nil), framed(f, `{"op":"add","args":{"aggregator":2}}`, []byte("123456"))...))
	f.Add(prefixed(MaxHeader, MaxPayload))
	f.Fuzz(func(t *testing.T, stream []byte) {
		for frames := (&frameReader{in: bytes.NewReader(stream)}); ; {
			header, _, err := frames.next()
			if err != nil {
				break
			}
			if tooMuch(header) {
				return
			}
		}
		_ = Serve(context.Background(), bytes.NewReader(stream), io.Discard, nil) // any error will do
	})
}

// tooMuch says whether a request may take long or much memory, as its caller is free to ask,
// or write files.
func tooMuch(header []byte) bool {
	var r request
	if json.Unmarshal(header, &r) != nil {
		return false
	}
	var args struct {
		Dim float64
	}
	_ = json.Unmarshal(r.Args, &args)
	return r.Op == "plan" || r.Op == "verify" || r.Op == "account" || r.Op == "ledger" || args.Dim > 4096 || r.Op == "round.new" && bytes.Contains(r.Args, []byte("sumdp"))
}

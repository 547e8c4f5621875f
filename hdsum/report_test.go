package hdsum

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hushgrad/hushgrad/fl"
)

func TestCanonicalSortsAndMerges(t *testing.T) {
	got := canonical([]Message{{2, -1, 3}, {0, 7, 1}, {2, -1, 2}, {2, -5, 1}, {0, -7, 4}, {1, 0, 1}, {2, -1, 1}})
	want := Multiset{{0, -7, 4}, {0, 7, 1}, {1, 0, 1}, {2, -5, 1}, {2, -1, 6}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got.Messages() != 13 {
		t.Errorf("%d messages, want 13", got.Messages())
	}
	if got := canonical(nil); len(got) != 0 || got.Messages() != 0 {
		t.Errorf("nothing became %v", got)
	}
}

func openCodec(t testing.TB, instances, entries int) *codec {
	t.Helper()
	c, err := newCodec(instances, entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// randomMultiset has values and counts of all sizes. Values of one instance are less
// than 2^63 apart, as the values of messages are.
func randomMultiset(rng *rand.Rand, instances, entries int) Multiset {
	m := make([]Message, rng.IntN(entries+1))
	for i := range m {
		value := int64(rng.Uint64()) >> (1 + rng.IntN(63))
		m[i] = Message{Instance: uint32(rng.IntN(instances)), Value: value, Count: 1 + rng.Int64N(1<<rng.IntN(40))}
	}
	return canonical(m)
}

func TestReportsRoundTrip(t *testing.T) {
	rng := newRand(30)
	const instances, entries = 50, 300
	c := openCodec(t, instances, entries)
	forms := map[byte]int{}
	for range 500 {
		m := randomMultiset(rng, instances, entries)
		if rng.IntN(2) == 0 { // as repetitive as real ones
			for i := range m {
				m[i] = Message{Instance: m[i].Instance, Value: int64(i), Count: 1}
			}
		}
		report := c.append([]byte("head"), m)
		if string(report[:4]) != "head" {
			t.Fatal("the destination changed")
		}
		report = report[4:]
		forms[report[0]]++
		got, err := c.parse(report)
		if err != nil || !slices.Equal(got, m) {
			t.Fatalf("%v became %v, %v", m, got, err)
		}
		if plain := appendBody(nil, m); len(report) > 1+len(plain) {
			t.Fatalf("%d bytes, plain %d", len(report), 1+len(plain))
		}
	}
	if forms[formPlain] == 0 || forms[formZstd] == 0 {
		t.Errorf("forms %v", forms)
	}
}

// The example of a report in bytes, by hand from docs/report-format.md.
func TestReportBytes(t *testing.T) {
	m := Multiset{{3, -2, 1}, {3, 5, 200}, {300, 0, 1}}
	want := []byte{0, 3, 3, 0, 0, 14, 0xc7, 1, 0xa9, 2, 0, 0}
	if got := openCodec(t, 301, 3).append(nil, m); !bytes.Equal(got, want) {
		t.Errorf("%v became % x, want % x", m, got, want)
	}
}

func TestExtremeEntriesRoundTrip(t *testing.T) {
	const instances = 1 << 31
	c := openCodec(t, instances, 10)
	for _, m := range []Multiset{
		nil,
		{{instances - 1, math.MaxInt64, maxCount}},
		{{0, math.MinInt64, 1}, {instances - 1, math.MinInt64, 1}, {instances - 1, -1, 1}},
		{{0, -1, 1}, {0, math.MaxInt64 - 1, 1}, {1, 0, 1}},
	} {
		if got, err := c.parse(c.append(nil, m)); err != nil || !slices.Equal(got, m) {
			t.Errorf("%v became %v, %v", m, got, err)
		}
	}
}

// body is one plain report of fields: instance, value and count − 1 of each entry.
func body(fields ...int64) []byte {
	report := []byte{formPlain}
	for i, f := range fields {
		if i%3 == 1 {
			report = binary.AppendVarint(report, f)
		} else {
			report = binary.AppendUvarint(report, uint64(f))
		}
	}
	return report
}

func TestParseRefuses(t *testing.T) {
	const instances, entries = 8, 3
	c := openCodec(t, instances, entries)
	if _, err := c.parse(body(7, 5, maxCount-1)); err != nil {
		t.Fatal(err)
	}
	for what, report := range map[string][]byte{
		"nothing":               nil,
		"unknown form":          {2},
		"no zstd frame":         {formZstd, 1, 2, 3},
		"an instance only":      body(1),
		"no count":              body(1, 2),
		"long varint":           append([]byte{0}, bytes.Repeat([]byte{0x80}, 11)...),
		"instance":              body(8, 1, 0),
		"large instance":        body(-1, 1, 0),
		"instances overflow":    body(1, 1, 0, -1, 1, 0),
		"sum of instances":      body(5, 1, 0, 3, 1, 0),
		"count above the limit": body(1, 1, maxCount),
		"largest count":         body(1, 1, -1),
		"equal values":          body(1, 1, 0, 0, 0, 0),
		"falling values":        body(1, 1, 0, 0, -1, 0),
		"values overflow":       body(1, 1, 0, 0, math.MaxInt64, 0),
		"needless bytes 1":      {0, 0x81, 0, 2, 0},
		"needless bytes 2":      {0, 1, 0x82, 0, 0},
		"needless bytes 3":      {0, 1, 2, 0x80, 0x80, 0},
		"too many entries":      body(1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0),
	} {
		if _, err := c.parse(report); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// A small frame that unpacks to more than any report is refused before it is
// unpacked, and so is one that unpacks to too many entries.
func TestBombsAreRefused(t *testing.T) {
	c := openCodec(t, 1, 1000)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1 << 16, 1<<16 + 1, 1 << 20, 1 << 28} {
		frame := append([]byte{formZstd}, encoder.EncodeAll(make([]byte, size), nil)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.parse(frame); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%d zeros in %d bytes: error %v", size, len(frame), err)
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 1<<20 {
			t.Errorf("%d zeros in %d bytes: %d bytes allocated", size, len(frame), allocated)
		}
	}
}

// Damaged reports are refused or are other multisets that pass on their own: no
// truncation or flipped bit does more.
func TestDamagedReports(t *testing.T) {
	l := mixedLayout(t)
	c := openCodec(t, l.instances, l.entryLimit())
	rng := newRand(31)
	refused, other := 0, 0
	for range 4 {
		m, err := l.encode([]input{{0, 1, 3}}, rng)
		if err != nil {
			t.Fatal(err)
		}
		for _, report := range [][]byte{c.append(nil, m), append([]byte{formPlain}, appendBody(nil, m)...)} {
			sums := l.NewSums()
			try := func(damaged []byte) {
				got, err := c.parse(damaged)
				if err == nil {
					err = sums.Add(got)
				}
				switch {
				case err == nil && slices.Equal(got, m) && damaged[0] == formPlain:
					t.Fatal("two plain reports for one multiset")
				case err == nil:
					other++
				case errors.Is(err, fl.ErrBadReport):
					refused++
				default:
					t.Fatal(err)
				}
			}
			for k := range report {
				if k > 0 { // the form alone is a report without messages, which BBGN refuses
					try(report[:k])
				}
				for bit := range 8 {
					damaged := slices.Clone(report)
					damaged[k] ^= 1 << bit
					try(damaged)
				}
			}
		}
	}
	if refused < other || other == 0 {
		t.Errorf("%d refused, %d taken", refused, other)
	}
}

// Whatever bytes come as a report: no panic, and what is read is canonical and
// survives another round trip.
func FuzzParse(f *testing.F) {
	l := mixedLayout(f)
	c := openCodec(f, l.instances, l.entryLimit())
	rng := newRand(32)
	for range 3 {
		m, err := l.encode([]input{{0, 1, 3}}, rng)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.append(nil, m))
		f.Add(append([]byte{formPlain}, appendBody(nil, m)...))
	}
	f.Add(body(1, 1, 0, 0, math.MaxInt64, 0))
	f.Fuzz(func(t *testing.T, report []byte) {
		m, err := c.parse(report)
		if err != nil {
			if !errors.Is(err, fl.ErrBadReport) {
				t.Fatal(err)
			}
			return
		}
		if len(m) > c.maxEntries || !slices.Equal(canonical(slices.Clone(m)), m) {
			t.Fatalf("read %d entries, canonical %v", len(m), slices.Equal(canonical(slices.Clone(m)), m))
		}
		for _, message := range m {
			if int(message.Instance) >= l.instances || message.Count < 1 || message.Count > maxCount {
				t.Fatalf("read %+v", message)
			}
		}
		if report[0] == formPlain && !bytes.Equal(appendBody([]byte{formPlain}, m), report) {
			t.Fatalf("%x is not the body of %v", report, m)
		}
		if again, err := c.parse(c.append(nil, m)); err != nil || !slices.Equal(again, m) {
			t.Fatalf("%v became %v, %v", m, again, err)
		}
		if err := l.NewSums().Add(m); err != nil && !errors.Is(err, fl.ErrBadReport) {
			t.Fatal(err)
		}
	})
}

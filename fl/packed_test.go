package fl

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// unsized has reports of any size, sized has reports of 3 bytes.
type unsized struct{ Mechanism }

type sized struct{ Mechanism }

func (sized) ReportBytes() int { return 3 }

func TestPackedReportsComeBack(t *testing.T) {
	for _, c := range []struct {
		m       Mechanism
		reports [][]byte
		bytes   int
	}{
		{unsized{}, [][]byte{{1}, {}, {2, 3}, make([]byte, 200)}, 1 + 1 + 2 + 2 + 0 + 1 + 200 + 1},
		{sized{}, [][]byte{{1, 2, 3}, {4, 5, 6}}, 6},
	} {
		packed, err := PackReports(c.m, []byte("before"), c.reports...)
		if err != nil || len(packed) != c.bytes+6 || string(packed[:6]) != "before" {
			t.Errorf("%T: %d bytes", c.m, len(packed))
		}
		got, err := UnpackReports(c.m, packed[6:])
		if err != nil || !slices.EqualFunc(got, c.reports, bytes.Equal) {
			t.Errorf("%T: %v, %v", c.m, got, err)
		}
		for _, r := range got {
			if cap(r) != len(r) {
				t.Errorf("%T: a report could grow into the next one", c.m)
			}
		}
	}
}

func TestBadPackedReportsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		m      Mechanism
		packed []byte
	}{
		"nothing":             {unsized{}, nil},
		"nothing of one size": {sized{}, nil},
		"a cut report":        {unsized{}, []byte{1, 7, 2, 7}},
		"a cut length":        {unsized{}, []byte{0x80}},
		"a huge length":       {unsized{}, bytes.Repeat([]byte{0xff}, 9)},
		"half a report":       {sized{}, make([]byte, 4)},
		"too many":            {unsized{}, make([]byte, MaxBatch+1)},
		"too many of a size":  {sized{}, make([]byte, 3*(MaxBatch+1))},
	} {
		var param *ParamError
		if _, err := UnpackReports(c.m, c.packed); !errors.As(err, &param) || param.Param != "reports" {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for m, n := range map[Mechanism]int{unsized{}: MaxBatch, sized{}: 3 * MaxBatch} {
		if got, err := UnpackReports(m, make([]byte, n)); err != nil || len(got) != MaxBatch {
			t.Errorf("%T: the largest batch: %d reports, %v", m, len(got), err)
		}
	}
}

func TestAReportOfAnotherSizeIsNotPacked(t *testing.T) {
	var param *ParamError
	got, err := PackReports(sized{}, []byte{9}, []byte{1, 2, 3}, []byte{4, 5})
	if !errors.As(err, &param) || param.Param != "reports[1]" || string(got) != "\x09" {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzUnpackReports(f *testing.F) {
	f.Add(true, []byte{1, 2, 3})
	f.Add(false, []byte{1, 2, 0, 2, 3, 4})
	f.Fuzz(func(t *testing.T, one bool, packed []byte) {
		var m Mechanism = unsized{}
		if one {
			m = sized{}
		}
		reports, err := UnpackReports(m, packed)
		if err != nil {
			return
		}
		back, err := PackReports(m, nil, reports...)
		again, bad := UnpackReports(m, back)
		if err != nil || bad != nil || !slices.EqualFunc(again, reports, bytes.Equal) {
			t.Errorf("%v came back as %v, %v, %v", reports, again, err, bad)
		}
	})
}

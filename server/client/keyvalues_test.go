package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// keys is a chunk of n keys from offset with all columns; key j has the numbers
// j+0.1 … j+0.5.
func keys(offset, n int) *service.GetKeyValuesResponse {
	column := func(tenth float64) []float64 {
		var out []float64
		for j := offset; j < offset+n; j++ {
			out = append(out, float64(j)+tenth)
		}
		return out
	}
	return &service.GetKeyValuesResponse{
		Offset: uint32(offset), Frequency: column(.1), FrequencyStdErr: column(.2), Mean: column(.3), MeanStdErr: column(.4), Conditional: column(.5),
	}
}

// with changes a chunk.
func with(m *service.GetKeyValuesResponse, change func(*service.GetKeyValuesResponse)) *service.GetKeyValuesResponse {
	change(m)
	return m
}

// announce makes a chunk the first one.
func announce(dim uint32, m *service.GetKeyValuesResponse) *service.GetKeyValuesResponse {
	m.Header = &service.EstimateHeader{RoundId: "r", Mechanism: "coco", Dim: dim, Reports: 9, Guarantee: fl.Guarantee{Model: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}.Proto()}
	return m
}

func TestKeyValuesRefuseWhatWasNotAnnounced(t *testing.T) {
	type messages = []*service.GetKeyValuesResponse
	type chunk = service.GetKeyValuesResponse
	for name, c := range map[string]struct {
		messages messages
		says     string
	}{
		"nothing":             {nil, "got 0 of 0 keys"},
		"no header":           {messages{keys(0, 3)}, "header.dim: got 0"},
		"dim 0":               {messages{announce(0, keys(0, 1))}, "header.dim: got 0"},
		"dim too large":       {messages{announce(fl.MaxDim+1, keys(0, 1))}, "header.dim: got 134217729"},
		"no keys":             {messages{announce(3, keys(0, 0)), keys(0, 3)}, "chunk of 0 keys"},
		"first offset":        {messages{announce(3, keys(1, 2))}, "at 1, expected at 0 of 3"},
		"gap":                 {messages{announce(3, keys(0, 1)), keys(2, 1), keys(1, 1)}, "at 2, expected at 1 of 3"},
		"repeated":            {messages{announce(4, keys(0, 2)), keys(0, 2)}, "at 0, expected at 2 of 4"},
		"overlong":            {messages{announce(3, keys(0, 4))}, "chunk of 4 keys"},
		"overlong later":      {messages{announce(3, keys(0, 2)), keys(2, 2)}, "chunk of 2 keys"},
		"ends early":          {messages{announce(3, keys(0, 2))}, "got 2 of 3 keys"},
		"short frequency":     {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.Frequency = m.Frequency[:2] }))}, "2 numbers of frequency, expected 3"},
		"short error":         {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.FrequencyStdErr = m.FrequencyStdErr[:2] }))}, "2 numbers of frequency_std_err, expected 3"},
		"long error":          {messages{announce(3, with(keys(0, 2), func(m *chunk) { m.MeanStdErr = append(m.MeanStdErr, 1) }))}, "3 numbers of mean_std_err, expected 2"},
		"short mean":          {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.Mean = m.Mean[:1] }))}, "1 numbers of mean, expected 3"},
		"short conditional":   {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.Conditional = m.Conditional[:1] }))}, "1 numbers of conditional, expected 3"},
		"a column ends":       {messages{announce(3, keys(0, 2)), with(keys(2, 1), func(m *chunk) { m.Conditional = nil })}, "0 numbers of conditional, expected 1"},
		"a column begins":     {messages{announce(3, with(keys(0, 2), func(m *chunk) { m.Conditional = nil })), keys(2, 1)}, "1 numbers of conditional, expected 0"},
		"frequency alone":     {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.FrequencyStdErr = nil }))}, "without standard errors"},
		"mean without errors": {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.MeanStdErr = nil }))}, "without standard errors"},
		"errors of nothing":   {messages{announce(3, with(keys(0, 3), func(m *chunk) { m.Mean = nil }))}, "without standard errors"},
	} {
		e, err := client.NewOperator(dial(t, &liar{keyValues: c.messages})).KeyValues(t.Context(), "r", false)
		if !errors.Is(err, client.ErrIncomplete) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %+v, %v, want ErrIncomplete saying %q", name, e, err, c.says)
		}
	}
}

func TestKeyValuesOfSeveralMessages(t *testing.T) {
	read := func(messages ...*service.GetKeyValuesResponse) *fl.KeyValueEstimate {
		t.Helper()
		e, err := client.NewOperator(dial(t, &liar{keyValues: messages})).KeyValues(t.Context(), "r", false)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := read(announce(5, keys(0, 2)), keys(2, 3))
	if e.Reports != 9 || e.Mechanism != "coco" || e.Guarantee != (fl.Guarantee{Model: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}) {
		t.Errorf("the header became %+v", e)
	}
	whole := keys(0, 5)
	for name, c := range map[string][2][]float64{
		"frequency":       {e.Frequency.Value, whole.Frequency},
		"frequency error": {e.Frequency.StdErr, whole.FrequencyStdErr},
		"mean":            {e.Mean.Value, whole.Mean},
		"mean error":      {e.Mean.StdErr, whole.MeanStdErr},
		"conditional":     {e.Conditional, whole.Conditional},
	} {
		if !slices.Equal(c[0], c[1]) {
			t.Errorf("%s: got %v, sent were %v", name, c[0], c[1])
		}
	}
	bare := func(m *service.GetKeyValuesResponse) { m.Frequency, m.FrequencyStdErr, m.Conditional = nil, nil, nil }
	e = read(announce(3, with(keys(0, 2), bare)), with(keys(2, 1), bare))
	if !slices.Equal(e.Mean.Value, keys(0, 3).Mean) || e.Frequency.Value != nil || e.Frequency.StdErr != nil || e.Conditional != nil {
		t.Errorf("means alone: %+v", e)
	}
}

// Whatever two messages hold, the estimate is refused or has whole columns.
func FuzzKeyValues(f *testing.F) {
	l := &liar{}
	operator := client.NewOperator(dial(f, l))
	marshal := func(m *service.GetKeyValuesResponse) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	f.Add(marshal(announce(5, keys(0, 2))), marshal(keys(2, 3)))
	f.Add(marshal(announce(3, keys(0, 2))), marshal(keys(1, 2)))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l.keyValues = nil
		for _, data := range [][]byte{first, second} {
			m := new(service.GetKeyValuesResponse)
			if proto.Unmarshal(data, m) != nil {
				return
			}
			if h := m.GetHeader(); h.GetDim() > 1<<16 {
				return // memory for the test's sake
			}
			l.keyValues = append(l.keyValues, m)
		}
		e, err := operator.KeyValues(t.Context(), "r", false)
		if err != nil {
			if e != nil {
				t.Fatalf("an estimate beside the error %v", err)
			}
			return
		}
		dim := int(l.keyValues[0].GetHeader().GetDim())
		for _, column := range [][]float64{e.Frequency.Value, e.Frequency.StdErr, e.Mean.Value, e.Mean.StdErr, e.Conditional} {
			if len(column) != dim && column != nil {
				t.Fatalf("%d numbers for %d keys", len(column), dim)
			}
		}
		if len(e.Frequency.Value) != len(e.Frequency.StdErr) || len(e.Mean.Value) != len(e.Mean.StdErr) {
			t.Fatalf("values without standard errors: %+v", e)
		}
	})
}

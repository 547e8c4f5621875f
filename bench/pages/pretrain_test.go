package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Sizes are side by side, for the same pictures only.
func TestPretrainedPutsSizesSideBySide(t *testing.T) {
	record := func(pictures string, trained bool, accuracy float64) *experiment.Record {
		return &experiment.Record{Rows: []map[string]any{{"pictures": pictures, "trained_on": trained, "classes": 62.0, "accuracy": accuracy}}}
	}
	got, err := pretrained([]*experiment.Record{record("letters", true, 0.75), record("letters", true, 0.8)})
	if want := "| letters | yes | 62 | 0.750 | 0.800 |"; err != nil || !strings.Contains(got, want) {
		t.Errorf("got\n%s%v, want %s", got, err, want)
	}
	for name, in := range map[string][]*experiment.Record{
		"one size":       {record("letters", true, 0.75)},
		"other pictures": {record("letters", true, 0.75), record("digits", true, 0.8)},
		"no accuracy":    {record("letters", true, 0.75), {Rows: []map[string]any{{"pictures": "letters"}}}},
	} {
		if _, err := pretrained(in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

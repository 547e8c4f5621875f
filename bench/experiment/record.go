package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Record is a result as Write left it in NAME.json, for what is made from results. Cells are
// nil, string, float64 or bool.
type Record struct {
	Name string `json:"name"`
	Origin
	Quick    bool             `json:"quick"`
	Seconds  float64          `json:"seconds"`
	Rows     []map[string]any `json:"rows"`
	Verdicts []Decision       `json:"verdicts"`
	Notes    []string         `json:"notes"`
}

// ReadRecord reads a NAME.json. A field that Write does not write is an error.
func ReadRecord(path string) (*Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	d, r := json.NewDecoder(bytes.NewReader(data)), &Record{}
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", path, err)
	}
	return r, nil
}

// Outcome says what was found about a claim: yes, no, or what leaves it open. A quick run decides nothing.
func (d Decision) Outcome() string {
	switch {
	case d.Found != "":
		return d.Found
	case d.Holds != nil && *d.Holds:
		return "yes"
	case d.Holds != nil:
		return "no"
	case d.Suggests != nil && *d.Suggests:
		return "quick run: yes"
	}
	return "quick run: no"
}

// Numbers are the paper's words with their place, the criterion, our number, what is missing, and the rest.
func (d Decision) Numbers() string {
	var parts []string
	for _, p := range []struct{ name, text string }{{"paper: ", d.Quote}, {"criterion: ", d.Criterion}, {"ours: ", d.Ours}, {"", d.Missing}, {"", d.Detail}} {
		if p.text != "" {
			parts = append(parts, p.name+p.text)
		}
	}
	return strings.Join(parts, "; ")
}

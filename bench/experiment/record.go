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

// Outcome says what was found about a claim: yes, no, or that it cannot be settled. A quick run
// decides nothing.
func (d Decision) Outcome() string {
	if d.Unsettled != "" {
		return "cannot be settled"
	}
	holds, text := d.Holds, ""
	if holds == nil {
		holds, text = d.Suggests, "quick run: "
	}
	if holds != nil && *holds {
		return text + "yes"
	}
	return text + "no"
}

// Numbers are the paper's and ours, what they cannot settle, and the rest.
func (d Decision) Numbers() string {
	var parts []string
	for _, p := range []struct{ name, text string }{{"paper: ", d.Paper}, {"ours: ", d.Ours}, {"", d.Unsettled}, {"", d.Detail}} {
		if p.text != "" {
			parts = append(parts, p.name+p.text)
		}
	}
	return strings.Join(parts, "; ")
}

package experiment

import (
	"bytes"
	"encoding/json"
	"math"
)

// document is the JSON file.
type document struct {
	Name     string    `json:"name"`
	Command  string    `json:"command"`
	Rows     []object  `json:"rows"`
	Verdicts []Verdict `json:"verdicts"`
	Notes    []string  `json:"notes"`
}

func (r *Result) writeJSON(w *bytes.Buffer, name, command string) error {
	// Empty lists, and not null, for what there is none of.
	d := document{Name: name, Command: command, Rows: []object{}, Verdicts: []Verdict{}, Notes: []string{}}
	for _, row := range r.Rows {
		d.Rows = append(d.Rows, object{r.Columns, row})
	}
	d.Verdicts = append(d.Verdicts, r.Verdicts...)
	d.Notes = append(d.Notes, r.Notes...)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // claims have < and > in them
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// object is a JSON object whose fields keep the order of the columns.
type object struct {
	names  []string
	values Row
}

// MarshalJSON implements json.Marshaler. JSON has no NaN and no infinity: NaN
// becomes null and the infinities become the texts "+Inf" and "-Inf".
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, name := range o.names {
		value := o.values[i]
		if v, ok := value.(float64); ok {
			switch {
			case math.IsNaN(v):
				value = nil
			case math.IsInf(v, 1):
				value = "+Inf"
			case math.IsInf(v, -1):
				value = "-Inf"
			}
		}
		if i > 0 {
			out.WriteByte(',')
		}
		if err := e.Encode(name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := e.Encode(value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

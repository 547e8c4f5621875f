package experiment

import (
	"bytes"
	"encoding/json"
	"math"
)

// document is the JSON file.
type document struct {
	Name string `json:"name"`
	Origin
	// Quick is true of a run at smaller settings than the paper's. Its verdicts decide
	// nothing: Holds is null there, and Suggests is what the smaller run points to.
	Quick bool `json:"quick"`
	// Seconds that the run took on the machine, which may have done other work.
	Seconds  float64    `json:"seconds,omitempty"`
	Rows     []object   `json:"rows"`
	Verdicts []Decision `json:"verdicts"`
	Notes    []string   `json:"notes"`
}

// Decision is a verdict in the JSON file.
type Decision struct {
	Claim     string `json:"claim"`
	Holds     *bool  `json:"holds"`
	Suggests  *bool  `json:"suggests,omitempty"`
	Unsettled string `json:"unsettled,omitempty"`
	Ours      string `json:"ours,omitempty"`
	Paper     string `json:"paper,omitempty"`
	Detail    string `json:"detail"`
}

// decision is the verdict as it is written.
func (v Verdict) decision(quick bool) Decision {
	d := Decision{Claim: v.Claim, Unsettled: v.Unsettled, Ours: v.Ours, Paper: v.Paper, Detail: v.Detail}
	switch {
	case v.Unsettled != "":
	case quick:
		d.Suggests = &v.Holds
	default:
		d.Holds = &v.Holds
	}
	return d
}

func (r *Result) writeJSON(w *bytes.Buffer, name string, from Origin) error {
	// Empty lists, and not null, for what there is none of.
	d := document{Name: name, Origin: from, Quick: r.Quick, Seconds: math.Ceil(r.Seconds), Rows: []object{}, Verdicts: []Decision{}, Notes: []string{}}
	for _, row := range r.Rows {
		d.Rows = append(d.Rows, object{r.Columns, row})
	}
	for _, v := range r.Verdicts {
		d.Verdicts = append(d.Verdicts, v.decision(r.Quick))
	}
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

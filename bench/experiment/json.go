package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// document is the head of the JSON file. The rows, the verdicts and the notes follow it, each on a line of
// its own: a change of a result is as many lines in a diff as rows that changed.
type document struct {
	Name string `json:"name"`
	Origin
	// Quick is true of a run at smaller settings than the paper's. Its verdicts decide
	// nothing: Holds is null there, and Suggests is what the smaller run points to.
	Quick bool `json:"quick"`
	// Seconds that the run took on the machine, which may have done other work.
	Seconds float64 `json:"seconds,omitempty"`
}

// Decision is a verdict in the JSON file.
type Decision struct {
	Claim     string `json:"claim"`
	Section   string `json:"section,omitempty"`
	Quote     string `json:"quote,omitempty"`
	Criterion string `json:"criterion,omitempty"`
	Holds     *bool  `json:"holds"`           // null where it is neither yes nor no
	Found     string `json:"found,omitempty"` // and what it is then
	Suggests  *bool  `json:"suggests,omitempty"`
	Draws     *Share `json:"draws,omitempty"`
	Missing   string `json:"missing,omitempty"`
	Ours      string `json:"ours,omitempty"`
	Detail    string `json:"detail"`
}

// decision is the verdict as it is written.
func (v Verdict) decision(quick bool) Decision {
	d := Decision{Claim: v.Claim, Section: v.Section, Quote: v.Quote, Criterion: v.Criterion, Missing: v.Missing, Ours: v.Ours, Detail: v.Detail}
	if v.Draws.Of > 0 {
		d.Draws = &v.Draws
	}
	switch outcome := v.outcome(); {
	case v.Missing != "" && quick:
		d.Found = outcome
	case quick:
		d.Suggests = &v.Holds
	case outcome == "yes" || outcome == "no":
		d.Holds = &v.Holds
	default:
		d.Found = outcome
	}
	return d
}

func (r *Result) writeJSON(w *bytes.Buffer, name string, from Origin) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // claims have < and > in them
	e.SetIndent("", "  ")
	if err := e.Encode(document{Name: name, Origin: from, Quick: r.Quick, Seconds: math.Ceil(r.Seconds)}); err != nil {
		return err
	}
	w.Truncate(w.Len() - len("\n}\n"))
	var rows, verdicts, notes []any
	for _, row := range r.Rows {
		rows = append(rows, object{r.Columns, row})
	}
	for _, v := range r.Verdicts {
		verdicts = append(verdicts, v.decision(r.Quick))
	}
	for _, n := range r.Notes {
		notes = append(notes, n)
	}
	e.SetIndent("", "")
	for _, list := range []struct {
		name  string
		lines []any
	}{{"rows", rows}, {"verdicts", verdicts}, {"notes", notes}} {
		fmt.Fprintf(w, ",\n  %q: [", list.name)
		for i, line := range list.lines {
			if i > 0 {
				w.WriteByte(',')
			}
			w.WriteString("\n    ")
			if err := e.Encode(line); err != nil {
				return err
			}
			w.Truncate(w.Len() - len("\n"))
		}
		if len(list.lines) > 0 {
			w.WriteString("\n  ")
		}
		w.WriteByte(']')
	}
	w.WriteString("\n}\n")
	return nil
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

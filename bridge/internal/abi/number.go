package abi

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// infinite stands for +Inf in JSON, which has no number for it.
const infinite = "inf"

// number is a float64 that may be +Inf.
type number float64

// MarshalJSON writes a number that keeps its point, so that a real number stays one.
func (n number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	switch {
	case math.IsInf(x, 1):
		return json.Marshal(infinite)
	case math.IsNaN(x) || math.IsInf(x, -1):
		return nil, fl.Invalid("number", x, "must be finite, or +Inf")
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return []byte(text), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and any other JSON number.
func (n *number) UnmarshalJSON(data []byte) error {
	if string(data) == `"`+infinite+`"` {
		*n = number(math.Inf(1))
		return nil
	}
	var x *float64
	if err := json.Unmarshal(data, &x); err != nil || x == nil {
		return &json.UnmarshalTypeError{Value: string(data), Type: reflect.TypeFor[number]()} // the decoder adds the name
	}
	*n = number(*x)
	return nil
}

// params are a mechanism's parameters: JSON integers, numbers with a point or an exponent,
// and texts.
type params fl.Params

func (p params) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(p))
	values := fl.Params(p)
	for name := range values {
		if i, err := values.Int(name); err == nil {
			out[name] = i
		} else if text, err := values.Text(name); err == nil {
			out[name] = text
		} else if x, err := values.Real(name); err == nil {
			out[name] = number(x)
		}
	}
	return json.Marshal(out)
}

func (p *params) UnmarshalJSON(data []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	out := fl.Params{}
	for name, raw := range in {
		value, err := parameter(name, raw)
		if err != nil {
			return err
		}
		out[name] = value
	}
	*p = params(out)
	return nil
}

// parameter reads one parameter.
func parameter(name string, raw json.RawMessage) (fl.Value, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil && raw[0] == '"' {
		return fl.Text(text), nil
	}
	if i, err := strconv.Atoi(string(raw)); err == nil {
		return fl.Int(i), nil
	}
	var x float64
	if err := json.Unmarshal(raw, &x); err != nil || string(raw) == "null" || !strings.ContainsAny(string(raw), ".eE") {
		return fl.Value{}, fl.Invalid(name, string(raw), "must be an integer of 64 bits, a number or a text")
	}
	return fl.Real(x), nil
}

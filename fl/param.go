package fl

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Value is one parameter of a mechanism: an integer, a real number or a text.
// The zero Value is none of them and is refused by Round.Validate.
type Value struct {
	kind    valueKind
	integer int64
	real    float64
	text    string
}

type valueKind uint8

const (
	unsetValue valueKind = iota
	integerValue
	realValue
	textValue
)

// Int returns an integer Value.
func Int(v int) Value { return Value{kind: integerValue, integer: int64(v)} }

// Real returns a real Value.
func Real(v float64) Value { return Value{kind: realValue, real: v} }

// Text returns a text Value.
func Text(v string) Value { return Value{kind: textValue, text: v} }

func (v Value) String() string {
	switch v.kind {
	case integerValue:
		return strconv.FormatInt(v.integer, 10)
	case realValue:
		return strconv.FormatFloat(v.real, 'g', -1, 64)
	case textValue:
		return strconv.Quote(v.text)
	}
	return "unset"
}

// Params holds a mechanism's own parameters by name.
type Params map[string]Value

// Has reports whether the parameter is present.
func (p Params) Has(name string) bool {
	_, ok := p[name]
	return ok
}

// Int returns an integer parameter, or a *ParamError when it is absent or not
// an integer.
func (p Params) Int(name string) (int, error) {
	v, ok := p[name]
	if !ok {
		return 0, Invalid(name, "nothing", "an integer is required")
	}
	if v.kind != integerValue || int64(int(v.integer)) != v.integer {
		return 0, Invalid(name, v, "must be an integer")
	}
	return int(v.integer), nil
}

// Real returns a real parameter, or a *ParamError when it is absent or neither
// real nor an integer.
func (p Params) Real(name string) (float64, error) {
	switch v, ok := p[name]; {
	case !ok:
		return 0, Invalid(name, "nothing", "a real number is required")
	case v.kind == integerValue:
		return float64(v.integer), nil
	case v.kind != realValue:
		return 0, Invalid(name, v, "must be a real number")
	default:
		return v.real, nil
	}
}

// Text returns a text parameter, or a *ParamError when it is absent or not a
// text.
func (p Params) Text(name string) (string, error) {
	v, ok := p[name]
	if !ok {
		return "", Invalid(name, "nothing", "a text is required")
	}
	if v.kind != textValue {
		return "", Invalid(name, v, "must be a text")
	}
	return v.text, nil
}

// Only returns a *ParamError when p holds a name that is not listed. A
// mechanism calls it so that a misspelt parameter is never ignored.
func (p Params) Only(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch {
		case len(names) == 0:
			return Invalid("params", name, "must be left out: this mechanism has no parameters")
		case !slices.Contains(names, name):
			return Invalid("params", name, "must be one of %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// With returns a copy of p in which name has the given value.
func (p Params) With(name string, v Value) Params {
	c := maps.Clone(p)
	if c == nil {
		c = Params{}
	}
	c[name] = v
	return c
}

func (p Params) validate() error {
	if len(p) > maxParams {
		return Invalid("params", len(p), "must have at most %d entries", maxParams)
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !namePattern.MatchString(name) {
			return Invalid("params", name, nameRule)
		}
		switch v := p[name]; {
		case v.kind == unsetValue:
			return Invalid(name, v, "must have a value")
		case v.kind == realValue && math.IsNaN(v.real):
			return Invalid(name, v, "must not be NaN")
		case v.kind == textValue && len(v.text) > maxTextBytes:
			return Invalid(name, v, "must have at most %d bytes", maxTextBytes)
		}
	}
	return nil
}

package main

import (
	"encoding/json"
	"fmt"
	"io"

	flag "github.com/spf13/pflag"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// outputFlag is the flag for the form of what a command prints.
const outputFlag = "output"

// The forms.
const (
	textOutput = "text" // for people: it may change
	jsonOutput = "json" // for programs
)

// output is the form of what a command prints.
type output string

// bind adds the flag, with text as its default.
func (o *output) bind(f *flag.FlagSet) { o.bindTo(f, textOutput) }

func (o *output) bindTo(f *flag.FlagSet, form output) {
	*o = form
	command.OneOf(f, o, outputFlag, "o", []output{textOutput, jsonOutput}, "`form` of what is printed: text or json")
}

// print prints v as JSON, or what text writes.
func (o *output) print(w io.Writer, v any, text func(io.Writer) error) error {
	if *o != jsonOutput {
		return text(w)
	}
	form := json.NewEncoder(w)
	form.SetIndent("", "  ")
	return form.Encode(v)
}

// printf prints v as JSON, or the text.
func (o *output) printf(w io.Writer, v any, format string, args ...any) error {
	return o.print(w, v, func(w io.Writer) error { _, err := fmt.Fprintf(w, format, args...); return err })
}

// protoJSON is a message in the JSON form of protobuf, with the names of its fields.
func protoJSON(m proto.Message) (json.RawMessage, error) {
	return protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(m)
}

// promised is a guarantee for programs. An ε of null is none.
type promised struct {
	Text     string   `json:"text"`
	Trust    string   `json:"trust"`
	Epsilon  *float64 `json:"epsilon"`
	Delta    float64  `json:"delta"`
	Relation string   `json:"relation"`
	// RealNumbers: the code does not keep it, see fl.Guarantee.
	RealNumbers bool `json:"real_numbers"`
}

func promisedBy(g fl.Guarantee) *promised {
	p := &promised{Text: g.String(), Trust: g.Trust.String(), Delta: g.Delta, Relation: g.Relation.String(), RealNumbers: g.RealNumbers}
	if g.Trust != fl.NoPrivacy {
		p.Epsilon = &g.Epsilon
	}
	return p
}

// counted is a number of things in words.
func counted[N int | int64 | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

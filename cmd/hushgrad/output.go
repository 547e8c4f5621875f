package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
)

// outputFlag is the flag for the form of what a command prints.
const outputFlag = "output"

// The forms.
const (
	textOutput = "text" // for people: it may change
	jsonOutput = "json" // for programs
)

// output is the form of what a command prints. It implements flag.Value.
type output string

// bind adds the flag, with text as its default.
func (o *output) bind(f *flag.FlagSet) { o.bindTo(f, textOutput) }

func (o *output) bindTo(f *flag.FlagSet, form output) {
	*o = form
	f.VarP(o, outputFlag, "o", "`form` of what is printed: text or json")
}

func (o *output) String() string { return string(*o) }
func (o *output) Type() string   { return "form" }

func (o *output) Set(form string) error {
	if form != textOutput && form != jsonOutput {
		return fmt.Errorf("must be %s or %s", textOutput, jsonOutput)
	}
	*o = output(form)
	return nil
}

// print prints v as JSON, or what text writes.
func (o *output) print(w io.Writer, v any, text func(io.Writer) error) error {
	if *o == jsonOutput {
		return printJSON(w, v)
	}
	return text(w)
}

func printJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
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

// completeForms lets shells complete the form.
func completeForms(c *cobra.Command) {
	if c.Flags().Lookup(outputFlag) == nil {
		return
	}
	forms := cobra.FixedCompletions([]cobra.Completion{textOutput, jsonOutput}, cobra.ShellCompDirectiveNoFileComp)
	if err := c.RegisterFlagCompletionFunc(outputFlag, forms); err != nil {
		panic(err) // the flag is there, and this is the only call for it
	}
}

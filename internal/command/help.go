package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/wrap"
)

// topicKey is the annotation of a flag with the title under which help lists it.
const topicKey = "topic"

// Topic adds the flags of bind, which help lists together under a title.
func Topic(f *flag.FlagSet, title string, bind func(*flag.FlagSet)) {
	g := flag.NewFlagSet(title, flag.ContinueOnError)
	g.SortFlags = false
	bind(g)
	g.VisitAll(func(one *flag.Flag) {
		if one.Annotations == nil {
			one.Annotations = map[string][]string{}
		}
		one.Annotations[topicKey] = []string{title}
	})
	f.AddFlagSet(g)
}

// PrintFlags prints the flags, first those without a topic. It does not report errors: nothing can be
// done about a closed terminal.
func PrintFlags(w io.Writer, f *flag.FlagSet) {
	topics := []string{""}
	flags := map[string][]*flag.Flag{}
	f.VisitAll(func(one *flag.Flag) {
		topic := strings.Join(one.Annotations[topicKey], " ")
		if !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
		flags[topic] = append(flags[topic], one)
	})
	for _, topic := range topics {
		if topic != "" {
			fmt.Fprintf(w, "\n%s:\n", topic)
		}
		for _, one := range flags[topic] {
			printFlag(w, one)
		}
	}
}

// printFlag prints the name of a flag and below it what it is for.
func printFlag(w io.Writer, one *flag.Flag) {
	if one.Hidden {
		return
	}
	kind, usage := flag.UnquoteUsage(one)
	line := "  --" + one.Name
	if one.Shorthand != "" {
		line = "  -" + one.Shorthand + ", --" + one.Name
	}
	switch {
	case kind != "" && one.NoOptDefVal != "": // a value is taken behind = alone
		line += "[=" + kind + "]"
	case kind != "":
		line += " " + kind
	}
	if value := one.DefValue; !slices.Contains([]string{"", "0", "false", "0s"}, value) {
		if one.Value.Type() == "string" {
			value = strconv.Quote(value)
		}
		usage += " (default " + value + ")"
	}
	fmt.Fprintf(w, "%s\n%s", line, wrap.Text(usage, "        "))
}

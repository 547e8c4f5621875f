package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	flag "github.com/spf13/pflag"
)

// columns is the width of help: that of the terminals that are there everywhere.
const columns = 80

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
	line := "  -" + one.Name
	if one.Shorthand != "" {
		line = "  -" + one.Shorthand + ", -" + one.Name
	}
	if kind != "" {
		line += " " + kind
	}
	if value := one.DefValue; !slices.Contains([]string{"", "0", "false", "0s"}, value) {
		if one.Value.Type() == "string" {
			value = strconv.Quote(value)
		}
		usage += " (default " + value + ")"
	}
	fmt.Fprintf(w, "%s\n%s", line, Wrap(usage, "        "))
}

// Wrap breaks text into lines of at most 80 columns with an indent. Lines that begin with a
// space stay as they are.
func Wrap(text, indent string) string {
	var out strings.Builder
	used := 0 // columns of the last line
	end := func() {
		if used > 0 {
			out.WriteByte('\n')
		}
		used = 0
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || line[0] == ' ' {
			end()
			out.WriteString(strings.TrimRight(indent+line, " \n") + "\n")
			continue
		}
		for _, word := range words {
			width := utf8.RuneCountInString(word)
			if used > 0 && used+1+width > columns {
				end()
			}
			if used == 0 {
				out.WriteString(indent)
				used = len(indent)
			} else {
				out.WriteByte(' ')
				used++
			}
			out.WriteString(word)
			used += width
		}
	}
	end()
	return out.String()
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

func newRoundsWatch() *cobra.Command {
	var to *remote
	var every time.Duration
	var form output
	c := newCommand("watch [flags]", "show the rounds again and again until interrupted", `Shows the rounds of a server until it is interrupted: on a terminal as a table, elsewhere
one line whenever a round changes: with -o json a message hushgrad.v1.RoundStatus.`, func(ctx context.Context, _ []string, std command.Streams) error {
		if every < 100*time.Millisecond {
			return fl.Invalid("--every", every, "must be at least 100ms")
		}
		return to.onServer(func(o *client.Operator) error {
			v := view{out: std.Out, notes: std.Err, output: form, terminal: form == textOutput && command.IsTerminal(std.Out), shown: map[string]string{}}
			return v.watch(ctx, o, every)
		})
	})
	to = bindServer(c.Flags())
	form.bind(c.Flags())
	c.Flags().DurationVar(&every, "every", time.Second, "how often to look, at least 100ms")
	return c
}

// watch shows the rounds until ctx ends.
func (v *view) watch(ctx context.Context, o *client.Operator, every time.Duration) error {
	for server := (patience{notes: v.notes}); ; {
		err := server.call(ctx, func() error {
			rounds, err := o.Rounds(ctx)
			if err != nil {
				return err
			}
			return v.show(rounds)
		})
		switch {
		case ctx.Err() != nil:
			return nil // this is how it ends
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// view shows rounds that change.
type view struct {
	out      io.Writer
	notes    io.Writer
	output   output
	terminal bool
	shown    map[string]string // last line of each round
}

// clear makes a terminal empty, with the cursor at its top.
const clear = "\x1b[H\x1b[2J"

func (v *view) show(rounds []client.RoundStatus) error {
	if v.terminal {
		var page bytes.Buffer // written at once, so that it does not flicker
		page.WriteString(clear)
		if err := writeTable(&page, rounds); err != nil {
			return err
		}
		_, err := v.out.Write(page.Bytes())
		return err
	}
	for _, s := range rounds {
		line := fmt.Sprintf("%s %s: reports %d, minimum %d, target %s", s.Round.ID, stateOf(s), s.Reports, s.Round.MinReports, targetOf(s.Round))
		if v.shown[s.Round.ID] == line {
			continue
		}
		v.shown[s.Round.ID] = line
		if err := v.say(s, line); err != nil {
			return err
		}
	}
	return nil
}

// say writes what has changed, in one line.
func (v *view) say(s client.RoundStatus, line string) error {
	if v.output != jsonOutput {
		_, err := fmt.Fprintf(v.out, "%s %s\n", time.Now().UTC().Format(time.RFC3339), line)
		return err
	}
	form := json.NewEncoder(v.out)
	form.SetEscapeHTML(false)
	return form.Encode(s)
}

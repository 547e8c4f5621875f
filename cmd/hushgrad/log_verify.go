package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/internal/translog/site"
)

// logReading are the flags of commands that read a log.
type logReading struct {
	place, key string
	witnesses  repeatedFlag
}

func (l *logReading) bind(f *flag.FlagSet) {
	f.StringVar(&l.place, "log", "", "the log: its `URL`, such as https://example.org:7125/log/, or its folder")
	f.StringVar(&l.key, "key", "", "public `key` of the log, which hushgrad log key has printed")
	f.Var(&l.witnesses, "witness", "public `key` of a witness that must have signed the checkpoint; may be repeated")
}

// open returns the keys and a reader.
func (l *logReading) open() (translog.Keys, *translog.Reader, error) {
	keys, err := translog.NewKeys("--key", l.key, "--witness", l.witnesses)
	if err != nil {
		return keys, nil, err
	}
	files, err := site.Open("--log", l.place)
	return keys, translog.NewReader(files, keys), err
}

// logVerifyFlags are the flags of log verify.
type logVerifyFlags struct {
	logReading
	published string
	gateways  repeatedFlag
	output    output
}

func newLogVerify() *cobra.Command {
	return newJob("verify --log URL --key KEY [flags]", "check all entries of a log, and print them", `Reads all entries of a log and checks them: against the hashes in its tiles, the tiles against the
checkpoint, the checkpoint against the key, and whether entries contradict each other. Prints the
rounds, keys, releases and models. With --published it also looks for an estimate that somebody published,
in the files of hushgrad rounds export, and with --gateway-key for the key of a gateway. It takes the memory of some tiles and 200 bytes an entry. The exit
code is 1 for a log that does not hold, and for an estimate or a key that is not in it.`, &logVerifyFlags{})
}

func (v *logVerifyFlags) bind(f *flag.FlagSet) {
	v.logReading.bind(f)
	f.StringVar(&v.published, "published", "", "`directory` with round.json and estimates.csv of a published estimate, which has to be in the log")
	f.Var(&v.gateways, "gateway-key", "`key` configuration of a gateway, as clients have it for --relay-key, which has to be in the log; may be repeated")
	v.output.bind(f)
}

func (v *logVerifyFlags) validate(*flag.FlagSet) error {
	if _, _, err := v.open(); err != nil {
		return err
	}
	_, err := loggedKeys("--gateway-key", v.gateways)
	return err
}

// verified ends what log verify prints.
type verified struct {
	Origin  string   `json:"origin"`
	Entries int64    `json:"entries"`
	SHA256  string   `json:"root_sha256"`
	Found   []string `json:"contradictions"`
	// Published is the entry about the published estimate, if there is one.
	Published *int64 `json:"published,omitempty"`
	// GatewayKeys are the entries about the keys of --gateway-key, in the order of the flags, and -1 for one that is not there.
	GatewayKeys []int64 `json:"gateway_keys,omitempty"`
}

func (v *logVerifyFlags) run(ctx context.Context, std command.Streams) error {
	keys, reader, err := v.open()
	if err != nil {
		return err
	}
	var p *publishedEstimate
	if v.published != "" {
		if p, err = readPublished(v.published); err != nil {
			return err
		}
	}
	gateways, err := loggedKeys("--gateway-key", v.gateways)
	if err != nil {
		return err
	}
	c, err := reader.Checkpoint(ctx)
	if err == nil {
		err = keys.Witnessed(c)
	}
	if err != nil {
		return asFailure(err)
	}
	sum := verified{Origin: keys.Origin(), Entries: c.N, SHA256: translog.Digest(c.Hash).String(), Found: []string{}}
	var story translog.Story
	bar := progress.New(std.Err, "verify")
	defer bar.Close()
	bar.Grow(int(c.N))
	for entry, err := range reader.Entries(ctx, c, 0) {
		if err != nil {
			return asFailure(err)
		}
		bar.Step()
		if err := story.Add(entry.Entry); err != nil {
			sum.Found = append(sum.Found, fmt.Sprintf("entry %d: %v", entry.Index, err))
		}
		if p != nil {
			p.compare(entry)
		}
		for _, g := range gateways {
			g.compare(entry)
		}
		if err := v.show(std.Out, entry); err != nil {
			return err
		}
	}
	bar.Close()
	about := ""
	if p != nil && p.entry >= 0 {
		sum.Published, about = &p.entry, fmt.Sprintf("entry %d is the estimate in %s\n", p.entry, p.dir)
	}
	for _, g := range gateways {
		sum.GatewayKeys = append(sum.GatewayKeys, g.entry)
		if g.entry >= 0 {
			about += fmt.Sprintf("entry %d is the gateway's key %s\n", g.entry, g.written)
		}
	}
	if v.output == jsonOutput {
		err = json.NewEncoder(std.Out).Encode(sum)
	} else {
		_, err = fmt.Fprintf(std.Out, "log %s: %d entries, root %s\n%s", sum.Origin, sum.Entries, sum.SHA256, about)
	}
	for _, found := range sum.Found {
		fmt.Fprintln(std.Err, found)
	}
	if len(sum.Found) > 0 {
		return fmt.Errorf("%w: %d entries", translog.ErrContradiction, len(sum.Found))
	}
	if err == nil && p != nil {
		err = asFailure(p.check())
	}
	for _, g := range gateways {
		if err == nil {
			err = asFailure(g.check())
		}
	}
	return err
}

// failure is an error about what a log holds, and not about the call.
type failure struct{ err error }

func (f failure) Error() string        { return f.err.Error() }
func (f failure) Is(target error) bool { return errors.Is(f.err, target) }

// asFailure returns an error as a failure.
func asFailure(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// show prints an entry.
func (v *logVerifyFlags) show(w io.Writer, e translog.Logged) error {
	if v.output == jsonOutput {
		return json.NewEncoder(w).Encode(struct {
			Index int64 `json:"index"`
			translog.Entry
		}{e.Index, e.Entry})
	}
	_, err := fmt.Fprintf(w, "%6d  %s  %-7s  %s\n        %s\n", e.Index, e.Time.Format(time.RFC3339), e.Kind, told(e.Entry), e.SHA256)
	return err
}

// told says what an entry is about.
func told(e translog.Entry) string {
	switch e.Kind {
	case translog.Round:
		return fmt.Sprintf("%s: %s of %d coordinates, %s, released from %d reports on", e.Round, e.Mechanism, e.Dim, e.Promise, e.MinReports)
	case translog.Key:
		if e.Round == "" {
			return e.Use + " key"
		}
		return fmt.Sprintf("%s: %s key", e.Round, e.Use)
	case translog.Release:
		return fmt.Sprintf("%s: estimate of %s, %s", e.Round, counted(e.Reports, "report"), e.Promise)
	case translog.Model:
		return fmt.Sprintf("version %d, %d bytes", e.Version, e.Bytes)
	}
	return string(e.Kind)
}

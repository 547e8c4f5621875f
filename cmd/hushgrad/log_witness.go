package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/internal/translog/site"
)

// following are the flags of commands that follow a log.
type following struct {
	state      string
	every      time.Duration
	once       bool
	monitoring monitoring

	checked prometheus.Gauge
}

func (w *following) bind(f *flag.FlagSet) {
	f.StringVar(&w.state, "state", "", "`file` with the last checkpoint that was seen, so that a restart forgets nothing")
	f.DurationVar(&w.every, "every", 10*time.Second, "how often to look, at least 100ms")
	f.BoolVar(&w.once, "once", false, "look once")
	f.StringVar(&w.monitoring.address, "metrics-listen", "", "loopback `address` for HTTP with /metrics, /healthz and /readyz, which is ready while the log answers; \"\" is none")
}

func (w *following) validate() error {
	switch {
	case w.every < 100*time.Millisecond:
		return fl.Invalid("--every", w.every, "must be at least 100ms")
	case w.state == "":
		return fl.Invalid("--state", "", "is required: a file for the last checkpoint that was seen")
	case w.once && w.monitoring.address != "":
		return fl.Invalid("--metrics-listen", w.monitoring.address, "must not be given with --once")
	}
	if at := w.monitoring.address; at != "" {
		if err := checkAddress("--metrics-listen", at); err != nil {
			return err
		}
		if !loopback(at) {
			return fl.Invalid("--metrics-listen", at, "must be a loopback address")
		}
	}
	return command.Place("--state", w.state)
}

// last returns the last checkpoint, nil for none.
func (w *following) last(keys translog.Keys) (*translog.Checkpoint, error) {
	f, err := os.Open(w.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	defer f.Close()
	signed, err := io.ReadAll(io.LimitReader(f, translog.MaxCheckpointBytes+1))
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	c, err := keys.Open(signed)
	if err != nil {
		return nil, fmt.Errorf("--state %s: %w", w.state, err)
	}
	return &c, nil
}

// keep writes the last checkpoint. It is on disk when keep returns nil.
func (w *following) keep(ctx context.Context, c translog.Checkpoint) error {
	err := command.Replace(ctx, w.state, func(to io.Writer) error { _, err := to.Write(c.Signed); return err })
	if err == nil {
		err = durable.SyncDir(filepath.Dir(w.state))
	}
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}

var errNotLooked = errors.New("the log has not answered yet")

// follow looks again and again until ctx ends, or look says that the log cannot be followed. A log that does
// not answer is tried again. figures are shown beside the usual ones.
func (w *following) follow(ctx context.Context, notes io.Writer, look func() error, figures ...prometheus.Collector) error {
	w.checked = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "hushgrad_log_checked_entries", Help: "Entries of the newest checkpoint of the log that continues what was seen before.",
	})
	shown := w.monitoring.registry()
	shown.MustRegister(append(figures, w.checked)...)
	var answer atomic.Pointer[error] // of the newest look
	answer.Store(&errNotLooked)
	speaker := logging{format: textOutput}
	m, err := w.monitoring.listen(shown, func() error { return *answer.Load() }, nil, speaker.logger(notes))
	if err != nil {
		return err
	}
	defer m.close()
	go m.serve()
	for {
		err := look()
		answer.Store(&err)
		switch {
		case ctx.Err() != nil:
			return nil // this is how it ends
		case w.once, errors.Is(err, translog.ErrFork), errors.Is(err, translog.ErrSignature):
			return err
		case err != nil:
			fmt.Fprintf(notes, "note: trying again: %v\n", err)
		}
		select {
		case <-time.After(w.every):
		case <-ctx.Done():
			return nil
		}
	}
}

// logWitnessFlags are the flags of log witness.
type logWitnessFlags struct {
	place, key, own string
	following
}

func newLogWitness() *cobra.Command {
	return newJob("witness --log URL --key KEY [flags]", "sign that a log only grows", `Looks at the checkpoint of a log again and again, checks that it continues the last one that this
witness has signed, signs it and gives the signature to the server. A witness that finds that the log has
forked prints the two checkpoints that prove it, and signs nothing more. Run it away from the server,
and keep its state: a witness that forgets what it saw signs a fork.`, &logWitnessFlags{})
}

func (w *logWitnessFlags) bind(f *flag.FlagSet) {
	f.StringVar(&w.place, "log", "", "`URL` of the log at its server, such as https://example.org:7125/log/")
	f.StringVar(&w.key, "key", "", "public `key` of the log, which hushgrad log key has printed")
	f.StringVar(&w.own, "key-file", "", "`file` with the witness's private key, of hushgrad log key --for witness")
	w.following.bind(f)
}

func (w *logWitnessFlags) validate(*flag.FlagSet) error {
	if w.own == "" {
		return fl.Invalid("--key-file", "", "is required: type hushgrad log key --for witness --name NAME --out FILE to make one")
	}
	if _, err := translog.NewKeys("--key", w.key, "", nil); err != nil {
		return err
	}
	return w.following.validate()
}

func (w *logWitnessFlags) run(ctx context.Context, std command.Streams) error {
	private, err := readLogKey("--key-file", w.own)
	if err != nil {
		return err
	}
	witness, err := translog.NewWitness("--key", w.key, "--key-file", private)
	if err != nil {
		return err
	}
	files, err := site.Open("--log", w.place)
	if err != nil {
		return err
	}
	reader := translog.NewReader(files, witness.Keys)
	return w.follow(ctx, std.Err, func() error { return asFailure(w.look(ctx, witness, files, reader, std.Out)) })
}

// look signs the checkpoint of the log, unless it is signed already.
func (w *logWitnessFlags) look(ctx context.Context, witness *translog.Witness, files translog.Source, reader *translog.Reader, out io.Writer) error {
	c, err := reader.Checkpoint(ctx)
	if err != nil {
		return err
	}
	last, err := w.last(witness.Keys)
	if err != nil {
		return err
	}
	if last != nil {
		if err := reader.Continues(ctx, *last, c); err != nil {
			return err
		}
		if c.N < last.N {
			return nil // an old copy
		}
	}
	w.checked.Set(float64(c.N))
	if witness.Keys.Witnessed(c) == nil {
		return nil
	}
	signed, err := witness.Cosign(c)
	if err != nil {
		return err
	}
	if err := w.keep(ctx, c); err != nil { // before anybody has the signature
		return err
	}
	if err := site.Send(ctx, "--log", files, signed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "signed %d entries, root %s\n", c.N, translog.Digest(c.Hash))
	return err
}

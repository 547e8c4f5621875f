package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/internal/translog/site"
)

// logMonitorFlags are the flags of log monitor.
type logMonitorFlags struct {
	logReading
	following
	remote   remote
	gateways repeatedFlag
}

func newLogMonitor() *cobra.Command {
	return newJob("monitor --log URL --key KEY --state FILE [flags]", "watch that a log is what the server shows", `Follows a log: checks every new entry, prints it, and checks that the log continues what was seen
before. With --server it also asks there for rounds as a client does, over a new connection each time, and
says when a round is shown that is not in the log, or with a proof from another log. With --gateway it asks a
gateway for its keys, and says when one is not in the log. It says what it found
on standard error, and ends with exit code 1 if it found anything. A log that has forked ends it at once:
the two checkpoints that it prints prove the fork to everybody.`, &logMonitorFlags{})
}

func (m *logMonitorFlags) bind(f *flag.FlagSet) {
	m.logReading.bind(f)
	m.following.bind(f)
	m.remote.bind(f, "ask its clients' listener for rounds, and compare them with the log")
	f.Var(&m.gateways, "gateway", "`URL` of a gateway, without a path: ask it for its keys, and compare them with the log; may be repeated")
}

func (m *logMonitorFlags) validate(*flag.FlagSet) error {
	if _, _, err := m.open(); err != nil {
		return err
	}
	for _, url := range m.gateways {
		if err := site.CheckURL("--gateway", url); err != nil {
			return err
		}
	}
	if m.remote.server == "" {
		return m.following.validate()
	}
	return errors.Join(m.remote.validate(), m.following.validate())
}

// errFound is what a monitor ends with that has found something.
var errFound = errors.New("what the server shows is not what its log says")

// logWatcher is a log that is followed.
type logWatcher struct {
	*logMonitorFlags
	keys   translog.Keys
	reader *translog.Reader
	std    command.Streams

	last   *translog.Checkpoint
	read   int64 // entries that are in story
	story  translog.Story
	recent []string // the newest rounds
	found  map[string]bool

	findings prometheus.Gauge // as many as found has, for other goroutines
}

func (m *logMonitorFlags) run(ctx context.Context, std command.Streams) error {
	keys, reader, err := m.open()
	if err != nil {
		return err
	}
	w := &logWatcher{logMonitorFlags: m, keys: keys, reader: reader, std: std, found: map[string]bool{}}
	if w.last, err = m.following.last(keys); err != nil {
		return asFailure(err)
	}
	w.findings = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "hushgrad_log_findings", Help: "What the monitor has found that contradicts the log, or is not in it: 0 while all is well.",
	})
	err = m.follow(ctx, std.Err, func() error { return asFailure(w.look(ctx)) }, w.findings)
	if err == nil && len(w.found) > 0 {
		err = fmt.Errorf("%w: %d times", errFound, len(w.found))
	}
	return err
}

// tell says what was found, once.
func (w *logWatcher) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !w.found[text] && len(w.found) < maxFound {
		w.found[text] = true
		w.findings.Inc()
		fmt.Fprintf(w.std.Err, "found: %s\n", text)
	}
}

const (
	// maxFound bounds what a monitor says.
	maxFound = 1000
	// maxRecent is how many rounds are asked for by their ids.
	maxRecent = 16
)

func (w *logWatcher) look(ctx context.Context) error {
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	for _, url := range w.gateways {
		if err := w.askGateway(ctx, url); err != nil {
			return err
		}
	}
	if w.remote.server == "" {
		return nil
	}
	conn, err := w.remote.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, id := range append([]string{""}, w.recent...) {
		if err := w.ask(ctx, conn, id); err != nil {
			return err
		}
	}
	return nil
}

// catchUp reads what is new in the log.
func (w *logWatcher) catchUp(ctx context.Context) error {
	c, err := w.reader.Checkpoint(ctx)
	if err != nil {
		return err
	}
	if w.last != nil {
		if err := w.reader.Continues(ctx, *w.last, c); err != nil {
			return err
		}
		if c.N < w.last.N {
			return nil // an old copy
		}
	}
	w.checked.Set(float64(c.N))
	for entry, err := range w.reader.Entries(ctx, c, w.read) {
		if err != nil {
			return err
		}
		w.read = entry.Index + 1
		if err := w.story.Add(entry.Entry); err != nil {
			w.tell("entry %d: %v", entry.Index, err)
		}
		if entry.Kind == translog.Round {
			w.recent = append(w.recent, entry.Round)
			w.recent = w.recent[max(0, len(w.recent)-maxRecent):]
		}
		if _, err := fmt.Fprintf(w.std.Out, "%6d  %-7s  %s\n", entry.Index, entry.Kind, told(entry.Entry)); err != nil {
			return err
		}
	}
	w.last = &c
	return w.keep(ctx, c)
}

// errElsewhere is a checkpoint that the log does not show.
var errElsewhere = errors.New("the log does not show the checkpoint of the proof")

// compare compares the checkpoint of a proof with the log, which may have grown meanwhile.
func (w *logWatcher) compare(ctx context.Context, shown translog.Checkpoint) error {
	if shown.N > w.last.N {
		if err := w.catchUp(ctx); err != nil {
			return err
		}
	}
	if shown.N > w.last.N {
		return fmt.Errorf("%w: it has %d entries, and the log %d\n%s", errElsewhere, shown.N, w.last.N, shown.Signed)
	}
	return w.reader.Continues(ctx, shown, *w.last)
}

// askGateway compares the keys that a gateway publishes with the log.
func (w *logWatcher) askGateway(ctx context.Context, url string) error {
	list, err := publishedBy(ctx, url)
	if err != nil {
		return err
	}
	configs, err := ohttp.ParseEncoded(list)
	switch {
	case err != nil:
		w.tell("%s published %d bytes that are no list of keys: %v", url, len(list), err)
	case len(configs) == 0:
		w.tell("%s published no key", url)
	}
	for _, c := range configs {
		if digest := gatewayDigest(c); !w.story.Has(digest) {
			w.tell("%s published the key %s with the SHA-256 %s, which is not in the log", url, c.Text(), digest)
		}
	}
	return nil
}

// ask compares a round that the server shows with the log.
func (w *logWatcher) ask(ctx context.Context, conn grpc.ClientConnInterface, id string) error {
	resp, err := service.NewRoundsClient(conn).GetRound(ctx, &service.GetRoundRequest{RoundId: id})
	if status.Code(err) == codes.NotFound {
		return nil // none is open, or it is forgotten
	}
	if err != nil {
		return err
	}
	r, err := fl.RoundFromProto(resp.GetStatus().GetRound())
	if err != nil {
		w.tell("a round that is none was shown: %v", err)
		return nil
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	if p, err := w.keys.Check(resp.GetLogProof(), digest); err != nil {
		w.tell("round %q was shown with the digest %x and no valid proof: %v", r.ID, digest, err)
	} else if err := w.compare(ctx, p.Checkpoint); errors.Is(err, errElsewhere) || errors.Is(err, translog.ErrFork) {
		w.tell("round %q was shown with the digest %x and a proof from another log: %v", r.ID, digest, err)
	} else if err != nil {
		return err
	}
	entries, err := translog.RoundEntries(r, fl.Guarantee{}, time.Time{})
	for _, e := range entries {
		if !w.story.Has(e.SHA256) {
			w.tell("%s of round %q with the digest %s was shown and is not in the log", e.Kind, r.ID, e.SHA256)
		}
	}
	return err
}

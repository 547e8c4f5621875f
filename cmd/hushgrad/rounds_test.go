package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// What the operator exports is what aggregate writes, beside the round that verify reads.
func TestRoundsFromOpenToExport(t *testing.T) {
	clients, operator := parts(t, run(t)) // with an open round named probe
	dir := t.TempDir()
	keys, data := remoteKV(t, dir)
	opened := do(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--min-reports", "5", "--target-reports", "60", "--param", "sparsity=2")
	do(t, "encode", "--server", clients, "--round", "r", "--max-epsilon", "1", "--keys", keys, data)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "new", "b")
	do(t, "aggregate", "--server", operator, "--round", "r", "--wait", "--keys", keys, "--out", a)
	do(t, "rounds", "export", "--server", operator, "--keys", keys, "--out", b, "r")
	var described, want fl.Round
	for file, r := range map[string]*fl.Round{filepath.Join(b, "round.json"): &described, writeFile(t, dir, "opened.json", opened): &want} {
		var err error
		if *r, err = readRound(file, nil); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := digestOf(t, described), digestOf(t, want); x != y {
		t.Errorf("the exported round is another one: %x, want %x", x, y)
	}
	if err := os.Remove(filepath.Join(b, "round.json")); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, a, b)
	if text := do(t, "rounds", "abort", "--server", operator, "probe"); text != "aborted probe\n" {
		t.Errorf("abort printed %q", text)
	}
	if err := try(t, []string{"rounds", "abort", "--server", operator, "probe"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a second abort: %v", err)
	}
	table := strings.Split(strings.TrimSpace(do(t, "rounds", "list", "--server", operator)), "\n")
	if len(table) != 3 {
		t.Fatalf("the list is %q", table)
	}
	for i, want := range []string{"probe aborted 0 100 - coco 4 1", "r closed 60 5 60 coco 4 1"} {
		if got := strings.Join(strings.Fields(table[i+1])[:8], " "); got != want {
			t.Errorf("line %d: %q, want %q", i+1, got, want)
		}
	}
	var messages []struct {
		Round         struct{ ID string }
		State         string
		Reports       string
		Opened, Ended time.Time
	}
	if err := json.Unmarshal([]byte(do(t, "rounds", "list", "-o", "json", "--server", operator)), &messages); err != nil || len(messages) != 2 {
		t.Fatalf("%v, %v", messages, err)
	}
	if m := messages[1]; m.Round.ID != "r" || m.State != "ROUND_STATE_CLOSED" || m.Reports != "60" || m.Ended.Before(m.Opened) {
		t.Errorf("%+v", m)
	}
}

// The ε of a round of two servers is no local one, nor is the ε of a sum in the shuffle model.
func TestTheListHasLocalEpsilonsOnly(t *testing.T) {
	for mechanism, want := range map[string]string{"coco": "1", "gaussian-shares": "-", "none": "-"} {
		r := fl.Round{ID: "r", Mechanism: mechanism, Dim: 4, Scale: 1, Epsilon: 1, MinReports: 100, Relation: fl.ReplaceOne, PublicSeed: [32]byte{1}}
		switch mechanism {
		case "coco":
			r.Params = fl.Params{"sparsity": fl.Int(2)}
		case "gaussian-shares":
			r.Delta = 1e-6
		case "none":
			r.Epsilon = math.Inf(1)
		}
		r, _, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		if err := writeTable(&table, []client.RoundStatus{{Round: r}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(strings.Split(table.String(), "\n")[1])[7]; got != want {
			t.Errorf("%s: local ε %s, want %s", mechanism, got, want)
		}
	}
}

func digestOf(t *testing.T, r fl.Round) [32]byte {
	t.Helper()
	d, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Who watches sees a server that was restarted again, and who waits for an estimate goes on to wait. A server that was
// never there is an error.
func TestRoundsWatchOutlivesTheServer(t *testing.T) {
	t.Parallel()
	clients, operator, data := freeAddress(t), freeAddress(t), t.TempDir()
	for _, args := range [][]string{{"rounds", "watch"}, {"aggregate", "--round", "before", "--wait"}, {"aggregate", "--round", "before", "--close"}} {
		if text := refusal(t, append(args, "--server", operator)...); !strings.Contains(text, "must be where it listens") {
			t.Errorf("%v without a server: %q", args, text)
		}
	}
	serve := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		go func() {
			ended <- call(ctx, []string{"serve", "--data", data, "--listen", clients, "--operator-listen", operator}, io.Discard, io.Discard)
		}()
		for end := time.Now().Add(30 * time.Second); try(t, []string{"rounds", "list", "--server", operator}) != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the server does not answer")
			}
		}
		return func() {
			cancel()
			<-ended
		}
	}
	stop := serve()
	do(t, "round", "--server", operator, "--id", "before", "--dim", "4", "--param", "sparsity=2")
	ctx, end := context.WithCancel(t.Context())
	var out, notes log
	done := make(chan error, 1)
	go func() {
		done <- dispatch(ctx, []string{"rounds", "watch", "--server", operator, "--every", "100ms"}, command.Streams{Out: &out, Err: &notes})
	}()
	out.waitFor(t, "before open")
	var waits log
	waited := make(chan error, 1)
	go func() {
		waited <- dispatch(t.Context(), []string{"aggregate", "--server", operator, "--round", "before", "--wait"}, command.Streams{Out: io.Discard, Err: &waits})
	}()
	waits.waitFor(t, `waiting for round "before" to end`)
	stop()
	notes.waitFor(t, "note: no answer, trying again")
	waits.waitFor(t, "note: no answer, trying again")
	defer serve()()
	do(t, "rounds", "abort", "--server", operator, "before")
	if err := <-waited; err == nil || !strings.Contains(err.Error(), "aborted") {
		t.Errorf("who waited for the estimate got %v", err)
	}
	do(t, "round", "--server", operator, "--id", "after", "--dim", "4", "--param", "sparsity=2")
	out.waitFor(t, "after open")
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Without a terminal a change is a line, and an interrupt is the usual end.
func TestRoundsWatchShowsChanges(t *testing.T) {
	_, operator := parts(t, run(t))
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var out log
	done := make(chan error, 1)
	go func() {
		done <- dispatch(ctx, []string{"rounds", "watch", "--server", operator, "--every", "100ms"}, command.Streams{Out: &out, Err: io.Discard})
	}()
	text := func() string {
		out.mu.Lock()
		defer out.mu.Unlock()
		return out.text.String()
	}
	for !strings.Contains(text(), "probe open") && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	do(t, "rounds", "abort", "--server", operator, "probe")
	for !strings.Contains(text(), "probe aborted") && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-done; err != nil || strings.Count(text(), "\n") != 2 {
		t.Errorf("%v; watch printed %q", err, text())
	}
}

func TestRoundsWatchPrintsALineOnce(t *testing.T) {
	var out bytes.Buffer
	v := view{out: &out, shown: map[string]string{}}
	for range 2 {
		if err := v.show([]client.RoundStatus{{Round: fl.Round{ID: "r", MinReports: 5}, Reports: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q", out.String())
	}
}

// misleading is a server with a round whose name would move the cursor of a terminal.
type misleading struct {
	service.UnimplementedOperatorServer
}

func (misleading) ListRounds(_ *service.ListRoundsRequest, stream grpc.ServerStreamingServer[service.ListRoundsResponse]) error {
	r := fl.Round{ID: "\x1b[2J", Mechanism: "coco", Dim: 4, Scale: 1, Epsilon: 1}
	return stream.Send(&service.ListRoundsResponse{Status: &service.RoundStatus{Round: r.Proto()}})
}

func TestRoundsDoesNotPrintWhatIsNoRound(t *testing.T) {
	g := grpc.NewServer()
	service.RegisterOperatorServer(g, misleading{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = g.Serve(l) }()
	defer g.Stop()
	for _, action := range []string{"list", "watch"} {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		var out bytes.Buffer
		err := dispatch(ctx, []string{"rounds", action, "--server", l.Addr().String()}, command.Streams{Out: &out, Err: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "round 0 of the server") || out.Len() > 0 {
			t.Errorf("%s: error %v, printed %q", action, err, out.String())
		}
	}
}

func TestAnOpenRoundHasNoEnd(t *testing.T) {
	var out bytes.Buffer
	if err := writeTable(&out, []client.RoundStatus{{Round: fl.Round{ID: "r"}}}); err != nil || !strings.HasSuffix(out.String(), "  -\n") {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestRoundsExplainsItself(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"-h"}, {"--help"}, {"--help"}} {
		var out, errors bytes.Buffer
		err := dispatch(t.Context(), append([]string{"rounds"}, args...), command.Streams{Out: &out, Err: &errors})
		text, other := out.String(), errors.String()
		if args == nil {
			text, other = other, text
		}
		if (err == nil) != (args != nil) || !strings.HasPrefix(text, "Usage: hushgrad rounds ACTION\n") || !strings.Contains(text, "\n  watch  ") || other != "" {
			t.Errorf("%v: error %v, printed %q and %q", args, err, out.String(), errors.String())
		}
	}
}

// On a terminal the table takes the place of the last one.
func TestRoundsWatchRedrawsATerminal(t *testing.T) {
	var out bytes.Buffer
	v := view{out: &out, terminal: true}
	for n := range 2 {
		r := client.RoundStatus{Round: fl.Round{ID: "r", MinReports: 5}, State: client.RoundOpen, Reports: n}
		if err := v.show([]client.RoundStatus{r}); err != nil {
			t.Fatal(err)
		}
	}
	if pages := strings.Split(out.String(), clear); len(pages) != 3 || !strings.HasPrefix(pages[2], "ROUND") || !strings.Contains(pages[2], "r      open   1") {
		t.Errorf("%q", out.String())
	}
}

func TestRoundsRefuses(t *testing.T) {
	_, operator := parts(t, run(t))
	for want, args := range map[string][]string{
		`action: got ""`:               {},
		`action: got "lst"`:            {"lst"},
		`arguments: got "now"`:         {"list", "now"},
		"arguments: got 0":             {"abort"},
		"arguments: got 2":             {"export", "--out", "d", "a", "b"},
		`--out: got ""`:                {"export", "a"},
		`--server: got ""`:             {"list", "--server", ""},
		`--server: got "example.com:1`: {"list", "--server", "example.com:1"},
		"--every: got 99ms":            {"watch", "--every", "99ms"},
		`arguments: got "ghost"`:       {"export", "--server", operator, "--out", "d", "ghost"},
	} {
		if err := try(t, append([]string{"rounds"}, args...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", args, err, want)
		}
	}
	if err := try(t, []string{"rounds", "export", "--server", operator, "--out", t.TempDir(), "probe"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("an open round: %v", err)
	}
}

// A round with a deadline is closed by its server, and says when.
func TestADeadlineClosesARound(t *testing.T) {
	t.Parallel()
	_, operator := parts(t, run(t))
	open := []string{"round", "--server", operator, "--dim", "4", "--param", "sparsity=2"}
	began := time.Now()
	text := printed(t, append(open, "--id", "long", "--deadline", "1h", "-o", "text")...)
	if want := "closes      by the operator, or at "; !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	r, err := readRound("-", strings.NewReader(printed(t, append(open, "--id", "short", "--deadline", "200ms")...)))
	if err != nil {
		t.Fatal(err)
	}
	if after := r.Deadline.Sub(began); after < 200*time.Millisecond || after > time.Hour {
		t.Errorf("the deadline is %v after the command began", after)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		text = printed(t, "rounds", "list", "--server", operator)
		if state := regexp.MustCompile(`(?m)^short +(\S+)`).FindStringSubmatch(text); state != nil && state[1] != "open" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the round is open:\n%s", text)
		}
	}
	if !regexp.MustCompile(`(?m)^long +open`).MatchString(text) {
		t.Errorf("the other round has ended:\n%s", text)
	}
}

// A round's text says how far clients who lie move its mean, if it has a bound.
func TestARoundSaysHowFarLiarsMoveItsMean(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"liars       1 % of the clients, with reports that they make up, can move a coordinate of a mean by up to 0.12 times the clip. 8.5 % of the clients together":              {"--param", "sparsity=2"},
		"liars       1 % of the clients, with reports that they make up, can move a mean, if both servers are honest, by up to 0.016 times the clip. 63 % of the clients together": {"--mechanism", "gaussian-shares", "--delta", "1e-6", "--param", "proof=prio3"},
		"liars       no bound is stated": {"--mechanism", "gaussian-shares", "--delta", "1e-6"},
	} {
		text := printed(t, append([]string{"round", "--dim", "10", "-o", "text"}, args...)...)
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("%v: %q, want %q", args, text, want)
		}
	}
	if text := printed(t, "round", "--dim", "10", "--mechanism", "none", "--epsilon", "inf", "-o", "text"); strings.Contains(text, "liars") {
		t.Errorf("without privacy: %q", text)
	}
}

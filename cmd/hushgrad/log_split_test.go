package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

// twin is one of two servers that have the same key of a log: together they are one server that shows
// different clients different things.
type twin struct{ folder, clients, operator, web string }

func startTwin(t *testing.T, dir, name, keyFile string, flags ...string) twin {
	t.Helper()
	w := twin{folder: filepath.Join(dir, name), web: freeAddress(t)}
	w.clients, w.operator = parts(t, run(t, append(flags, "--log", w.folder, "--log-key-file", keyFile, "--http", w.web)...))
	return w
}

func (w twin) url() string { return "http://" + w.web + "/log/" }

// openOne opens a round.
func (w twin) openOne(t *testing.T, id, epsilon string) {
	t.Helper()
	do(t, "round", "--server", w.operator, "--id", id, "--dim", "4", "--param", "sparsity=2", "--min-reports", "2", "--epsilon", epsilon)
}

// calls runs a command and returns its exit code and what it says.
func calls(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	var out strings.Builder
	code = call(t.Context(), args, io.Discard, &out)
	return code, out.String()
}

// A server that shows a client another round than the log has, under another log of the same key, is found by
// the monitor that asks for rounds. One that shows what the log has is not.
func TestTheMonitorFindsASplitView(t *testing.T) {
	dir := t.TempDir()
	file, public := logKeys(t, dir, "test.example/log")
	shown, hidden := startTwin(t, dir, "shown", file), startTwin(t, dir, "hidden", file)
	state := filepath.Join(dir, "state")
	watch := func(server, state string) (int, string) {
		return calls(t, "log", "monitor", "--log", shown.url(), "--key", public, "--server", server, "--state", state, "--once")
	}
	shown.openOne(t, "r", "1")
	if code, text := watch(shown.clients, state); code != 0 {
		t.Errorf("one view: exit code %d: %s", code, text)
	}
	hidden.openOne(t, "r", "8")
	for name, want := range map[string]string{"as many entries": "the log has forked", "more entries": "the log does not show the checkpoint of the proof"} {
		if name == "more entries" {
			hidden.openOne(t, "s", "8")
		}
		code, text := watch(hidden.clients, filepath.Join(dir, "other state"))
		if code != 1 || !strings.Contains(text, `round of round "r" with the digest`) && name == "as many entries" || !strings.Contains(text, "is not in the log") {
			t.Errorf("%s: exit code %d: %s", name, code, text)
		}
		if name == "more entries" && !strings.Contains(text, want) {
			t.Errorf("%s: no %q in %s", name, want, text)
		}
	}
	shown.openOne(t, "s", "1")
	shown.openOne(t, "u", "1")
	code, text := watch(hidden.clients, filepath.Join(dir, "third state"))
	if code != 1 || !strings.Contains(text, "the log has forked") {
		t.Errorf("a longer log: exit code %d: %s", code, text)
	}
	var out log
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- call(ctx, []string{"log", "monitor", "--log", shown.url(), "--key", public, "--server", hidden.clients, "--state", filepath.Join(dir, "fourth state"), "--metrics-listen", "127.0.0.1:0"}, io.Discard, &out)
	}()
	shows(t, &out, fmt.Sprintf("hushgrad_log_findings %d", strings.Count(text, "found: ")))
	stop()
	if code := <-ended; code != 1 {
		t.Errorf("a monitor that has found something ends with exit code %d: %s", code, &out)
	}
}

// A log that is exchanged for another one under the same key is a fork for a monitor and for a witness that
// have seen the first one, also when they are started anew. The witness signs nothing of it.
func TestAForkIsFoundByWhoHasSeenTheLog(t *testing.T) {
	dir := t.TempDir()
	file, public := logKeys(t, dir, "test.example/log")
	own, witness := logKeys(t, dir, "witness.example", "--for", "witness")
	twins := []twin{startTwin(t, dir, "a", file, "--log-witness", witness), startTwin(t, dir, "b", file, "--log-witness", witness)}
	var now atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // the place where the log is looked for
		req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+twins[now.Load()].web+r.URL.Path, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer front.Close()
	url := front.URL + "/log/"
	monitor := []string{"log", "monitor", "--log", url, "--key", public, "--state", filepath.Join(dir, "monitor"), "--once"}
	cosign := []string{"log", "witness", "--log", url, "--key", public, "--key-file", own, "--state", filepath.Join(dir, "witness"), "--once"}
	for i, id := range []string{"r", "s"} {
		twins[0].openOne(t, id, "1")
		for _, args := range [][]string{monitor, cosign, cosign} {
			if code, text := calls(t, args...); code != 0 {
				t.Errorf("%d: %v: exit code %d: %s", i, args[1], code, text)
			}
		}
	}
	if _, err := os.ReadFile(filepath.Join(dir, "witness")); err != nil {
		t.Error(err)
	}
	do(t, "log", "verify", "--log", url, "--key", public, "--witness", witness)
	for _, id := range []string{"r", "s", "u"} {
		twins[1].openOne(t, id, "8")
	}
	now.Store(1)
	for _, args := range [][]string{monitor, cosign} {
		if code, text := calls(t, args...); code != 1 || !strings.Contains(text, "the log has forked") || strings.Count(text, "— test.example/log ") != 2 {
			t.Errorf("%v: exit code %d: %s, want a fork with two signed checkpoints", args[1], code, text)
		}
	}
	if code, text := calls(t, "log", "verify", "--log", url, "--key", public, "--witness", witness); code != 1 || !strings.Contains(text, "witness.example") {
		t.Errorf("the fork has the witness's signature: exit code %d: %s", code, text)
	}
}

// A client that asks for the log takes part in a round that is there, and in no other. With a witness it also
// waits for the witness's signature. The proof comes through a shuffler, too.
func TestAClientAsksForTheLog(t *testing.T) {
	dir := t.TempDir()
	file, public := logKeys(t, dir, "test.example/log")
	_, stranger := logKeys(t, dir, "stranger.example/log")
	own, witness := logKeys(t, dir, "witness.example", "--for", "witness")
	_, absent := logKeys(t, dir, "absent.example", "--for", "witness")
	logged, unlogged := startTwin(t, dir, "log", file, "--log-witness", witness), ""
	logged.openOne(t, "r", "1")
	keys, data := remoteKV(t, dir)
	unlogged, operator := parts(t, run(t))
	do(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--param", "sparsity=2")
	encode := func(server string, flags ...string) (int, string) {
		return calls(t, append([]string{"encode", "--server", server, "--round", "r", "--max-epsilon", "1", "--keys", keys, data}, flags...)...)
	}
	cosign := func() {
		do(t, "log", "witness", "--log", logged.url(), "--key", public, "--key-file", own, "--state", filepath.Join(dir, "state"), "--once")
	}
	for _, c := range []struct {
		name, server string
		flags        []string
		code         int
		says         string
		before       func()
	}{
		{"the log", logged.clients, []string{"--log-key", public}, 0, "", nil},
		{"another log", logged.clients, []string{"--log-key", stranger}, 2, "not signed by this key", nil},
		{"no log", unlogged, []string{"--log-key", public}, 2, "the server needs --log", nil},
		{"before the witness", logged.clients, []string{"--log-key", public, "--witness", witness}, 2, "no signature of witness.example", nil},
		{"after the witness", logged.clients, []string{"--log-key", public, "--witness", witness}, 0, "", cosign},
		{"another round since", logged.clients, []string{"--log-key", public, "--witness", witness}, 0, "", func() { logged.openOne(t, "s", "1") }},
		{"one witness too many", logged.clients, []string{"--log-key", public, "--witness", witness, "--witness", absent}, 2, "no signature of absent.example", nil},
		{"a witness alone", logged.clients, []string{"--witness", witness}, 2, "needs --log-key", nil},
		{"no key", logged.clients, []string{"--log-key", "k"}, 2, "hushgrad log key", nil},
	} {
		if c.before != nil {
			c.before()
		}
		if code, text := encode(c.server, c.flags...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: exit code %d, want %d with %q: %s", c.name, code, c.code, c.says, text)
		}
	}
}

// The shuffler passes the proof on.
func TestAShufflerPassesTheProofOn(t *testing.T) {
	dir, listener, relay := t.TempDir(), freeAddress(t), freeAddress(t)
	file, public := logKeys(t, dir, "test.example/log")
	_, stranger := logKeys(t, dir, "stranger.example/log")
	web, folder, operator := freeAddress(t), filepath.Join(dir, "log"), freeAddress(t)
	runLogging(t, &log{}, "--shuffler-listen", listener, "--operator-listen", operator, "--log", folder, "--log-key-file", file, "--http", web)
	runRole(t, "shuffle", "--name", "shuffler.test", "--listen", relay, "--data", noData, "--upstream", listener)
	do(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--param", "sparsity=2", "--shuffler", "shuffler.test")
	conn := dialServe(t, relay)
	join := func(key string) error {
		c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 1}, LogKey: key})
		if err == nil {
			_, err = c.Join(context.Background(), "r")
		}
		return err
	}
	untilAvailable(t, func() error { return join(public) })
	if err := join(stranger); !errors.Is(err, client.ErrUnlogged) {
		t.Errorf("another log: %v", err)
	}
}

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// asCommand is a variable of the environment. If it is set, this binary is hushgrad.
const asCommand = "HUSHGRAD_TEST_AS_COMMAND"

// TestMain keeps the tests out of the state of the user who runs them.
func TestMain(m *testing.M) {
	if mode := os.Getenv(asAdapter); mode != "" {
		adapt(mode)
		os.Exit(0)
	}
	if os.Getenv(asCommand) != "" {
		main()
	}
	if filepath.Base(os.Args[0]) == "hushgrad-draw" {
		command.Main("hushgrad-draw", paint.Run)
	}
	_ = flag.Set("test.parallel", "4") // most of them wait
	debug.SetGCPercent(400)            // the commands leave little behind: collecting it took an eighth of the time
	dir, err := os.MkdirTemp("", "hushgrad")
	if err != nil {
		panic(err)
	}
	_ = os.Unsetenv("STATE_DIRECTORY")
	_ = os.Setenv("XDG_STATE_HOME", dir)
	if err := paints(dir); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// paints puts hushgrad-draw, which this binary is under the name, into the PATH.
func paints(dir string) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	return errors.Join(os.Symlink(own, filepath.Join(dir, "hushgrad-draw")), os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")))
}

func TestTheStateHasItsUsualPlace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places of Linux")
	}
	home := t.TempDir()
	for _, c := range []struct{ systemd, xdg, want string }{
		{"/var/lib/x", "/x", "/var/lib/x/hushgrad/serve"}, {"", "/x", "/x/hushgrad/serve"},
		{"", "relative", home + "/.local/state/hushgrad/serve"}, {"", "", home + "/.local/state/hushgrad/serve"},
	} {
		t.Setenv("HOME", home)
		t.Setenv("STATE_DIRECTORY", c.systemd)
		t.Setenv("XDG_STATE_HOME", c.xdg)
		if got := stateDir("serve"); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What one server kept is there when the next one starts, a second server on the same directory
// is refused, and --data none says that it forgets.
func TestServeKeepsItsState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	for i := range 2 {
		ctx, stop := context.WithCancel(t.Context())
		text := &log{}
		code := make(chan int, 1)
		go func() {
			code <- call(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--data", dir}, io.Discard, text)
		}()
		rounds := 0
		for _, address := range text.addresses(t, 2) {
			operator := client.NewOperator(dialServe(t, address))
			if kept, err := operator.Rounds(ctx); err == nil {
				rounds += len(kept)
				if _, err := operator.OpenRound(ctx, fl.Round{
					ID: []string{"a", "b"}[i], Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(4)},
				}); err != nil {
					t.Error(err)
				}
			}
		}
		if rounds != i {
			t.Errorf("start %d: %d rounds", i+1, rounds)
		}
		var second log
		if c := call(t.Context(), []string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--data", dir}, io.Discard, &second); c != 1 || !strings.Contains(second.String(), "--data: ") {
			t.Errorf("a second server on the directory: exit code %d\n%s", c, &second)
		}
		stop()
		if c := <-code; c != 0 || !strings.Contains(text.String(), "open_rounds="+[]string{"1", "2"}[i]) {
			t.Errorf("exit code %d, log\n%s", c, text)
		}
	}
	var text log
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if c := call(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--data", "none"}, io.Discard, &text); c != 0 || !strings.Contains(text.String(), "a restart forgets it") {
		t.Errorf("--data none: exit code %d\n%s", c, &text)
	}
	// Without the file that names the role, as in a backup, the rounds do.
	if err := os.Remove(filepath.Join(dir, ownerName)); err != nil {
		t.Fatal(err)
	}
	var other log
	if c := call(ctx, []string{"shuffle", "--data", dir, "--listen", "127.0.0.1:0", "--name", "shuffler.example", "--upstream", "127.0.0.1:1"}, io.Discard, &other); c != 2 || !strings.Contains(other.String(), "has the state of hushgrad serve") {
		t.Errorf("a shuffler on a backup of the server: exit code %d\n%s", c, &other)
	}
}

// A directory that one role's state is in is refused to the others, and its keys are not theirs. A backup has no file
// that names the role: what is in the journal tells whose it is. An empty journal may become any role's.
func TestAStateHasOneOwner(t *testing.T) {
	local := []string{"--listen", "127.0.0.1:0"}
	calls := map[string][]string{
		"serve":   append(local, "--operator-listen", "127.0.0.1:0", "--shuffler-listen", "127.0.0.1:0"),
		"shuffle": append(local, "--name", "shuffler.example", "--upstream", "127.0.0.1:1"),
	}
	start := func(role, dir string) (code int, said string) {
		t.Helper()
		var text log
		ctx, stop := context.WithCancel(t.Context())
		stop()
		code = call(ctx, append([]string{role, "--data", dir}, calls[role]...), io.Discard, &text)
		return code, text.String()
	}
	for role, other := range map[string]string{"serve": "shuffle", "shuffle": "serve"} {
		dir := filepath.Join(t.TempDir(), "data")
		if code, said := start(role, dir); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", role, code, said)
		}
		want := "--data: got \"" + dir + "\", rule: must be hushgrad " + other + "'s own, and has the state of hushgrad " + role + ": type --data and another directory"
		if code, said := start(other, dir); code != 2 || !strings.Contains(said, want) || strings.Contains(said, "fingerprint") {
			t.Errorf("%s on the state of %s: exit code %d, want %q in\n%s", other, role, code, want, said)
		}
		if said := refusal(t, other, "keys", "--data", dir); !strings.Contains(said, want) {
			t.Errorf("the keys: %q, want %q", said, want)
		}
		printed(t, role, "keys", "--data", dir)
		if code, said := start(role, dir); code != 0 {
			t.Errorf("%s again: exit code %d\n%s", role, code, said)
		}
	}
	for role, prefix := range prefixes {
		dir := t.TempDir()
		kept, err := disk.Open(dir, disk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b journal.Batch
		b.Put([]byte(prefix+"x"), nil)
		if err := errors.Join(kept.Commit(&b), kept.Close()); err != nil {
			t.Fatal(err)
		}
		for other := range prefixes {
			s := state{role: other, dir: dir, minFree: 1}
			kept, err := s.open(slog.New(slog.DiscardHandler))
			if (err == nil) != (other == role) {
				t.Errorf("%s on a backup of %s: %v", other, role, err)
			}
			if err == nil {
				err = errors.Join(kept.Close(), os.Remove(filepath.Join(dir, ownerName)))
			} else {
				err = nil
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
}

package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/server/client"
)

// logKeys makes the key of a log, and returns its file and the public key.
func logKeys(t *testing.T, dir, name string, flags ...string) (file, public string) {
	t.Helper()
	file = filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".key")
	return file, strings.TrimSpace(do(t, append([]string{"log", "key", "--name", name, "--out", file}, flags...)...))
}

// quickRound is a round that one report ends.
func quickRound(id string) fl.Round {
	return fl.Round{ID: id, Mechanism: "coco", Dim: 4, Scale: 1, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(2)}}
}

// done is what a killed server has acknowledged.
type done struct {
	rounds, releases map[string]bool
	models           int
}

// work opens rounds, closes them with an estimate and publishes models, until the server is gone.
func (d *done) work(ctx context.Context, operators, clients *grpc.ClientConn, name string) error {
	operator := client.NewOperator(operators)
	for n := 0; ; n++ {
		id := name + "-" + string(rune('a'+n%26)) + strings.Repeat("z", n/26)
		round, err := operator.OpenRound(ctx, quickRound(id))
		if err != nil {
			return err
		}
		d.rounds[round.ID] = true
		c, err := client.New(clients, client.Options{Policy: fl.Policy{MaxEpsilon: 2}, Attempts: 1})
		if err != nil {
			return err
		}
		part, err := c.Join(ctx, id)
		if err != nil {
			return err
		}
		report, err := part.Encode(nil, []float64{1, 0, 0, 0}, nil)
		if err != nil {
			return err
		}
		if _, err := part.Submit(ctx, [][]byte{report}); err != nil {
			return err
		}
		if err := operator.CloseRound(ctx, id); err != nil {
			return err
		}
		d.releases[id] = true
		if _, err := operator.PutModel(ctx, "text/plain", []byte(id)); err != nil {
			return err
		}
		d.models++
	}
}

// A server that is killed at any moment leaves a log that goes on: every checkpoint continues the earlier
// ones, what was acknowledged is in the log, and nothing is there twice.
func TestAKilledServersLogGoesOn(t *testing.T) {
	kills := 5
	if *long {
		kills = 20
	}
	disk := outage.Disk(t, "serve")
	file, public := logKeys(t, t.TempDir(), "test.example/log")
	folder, data := filepath.Join(disk, "var", "log"), filepath.Join(disk, "lib", "hushgrad", "data") // in directories that are not there yet
	listen, operator := freeAddress(t), freeAddress(t)
	clients, operators := dialServe(t, listen), dialServe(t, operator)
	keys, err := translog.NewKeys("key", public, "witness", nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 1))
	acknowledged := done{rounds: map[string]bool{}, releases: map[string]bool{}}
	var seen []translog.Checkpoint
	for life := range kills + 1 {
		server := startCommand(t, "serve", "--listen", listen, "--operator-listen", operator, "--data", data, "--log", folder, "--log-key-file", file, "--keep-rounds", "100")
		var rounds []client.RoundStatus
		untilAvailable(t, func() (err error) {
			rounds, err = client.NewOperator(operators).Rounds(t.Context())
			return err
		})
		if len(rounds) == 0 && len(acknowledged.releases) > 0 {
			t.Fatalf("life %d: no round is there, after %d were closed", life, len(acknowledged.releases))
		}
		reader := translog.NewReader(translog.Folder(folder), keys)
		c, err := reader.Checkpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, older := range seen {
			if err := reader.Continues(t.Context(), older, c); err != nil || c.N < older.N {
				t.Errorf("life %d: %d entries after %d: %v", life, c.N, older.N, err)
			}
		}
		seen = append(seen, c)
		if life == kills {
			checkStory(t, reader, c, acknowledged)
			break
		}
		working, stop := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- acknowledged.work(working, operators, clients, string(rune('A'+life))) }()
		select {
		case <-time.After(time.Duration(100+rng.IntN(400)) * time.Millisecond):
		case err := <-stopped:
			t.Fatal(err)
		}
		outage.During(t, disk, func() {
			_ = server.Process.Kill()
			_ = server.Wait()
		})
		stop()
		<-stopped
	}
	if len(acknowledged.releases) < kills {
		t.Errorf("%d rounds had estimates in %d lives: too few to see anything", len(acknowledged.releases), kills)
	}
	do(t, "log", "verify", "--log", folder, "--key", public)
}

// checkStory reads a log and compares it with what was acknowledged.
func checkStory(t *testing.T, reader *translog.Reader, c translog.Checkpoint, acknowledged done) {
	t.Helper()
	found := map[translog.Kind]map[string]int{translog.Round: {}, translog.Release: {}, translog.Model: {}}
	for entry, err := range reader.Entries(t.Context(), c, 0) {
		if err != nil {
			t.Fatal(err)
		}
		name := entry.Round
		if entry.Kind == translog.Model {
			name = entry.SHA256.String()
		}
		if found[entry.Kind][name]++; found[entry.Kind][name] > 1 {
			t.Errorf("%s %s is there twice", entry.Kind, name)
		}
	}
	for id := range acknowledged.rounds {
		if found[translog.Round][id] == 0 {
			t.Errorf("round %s is not in the log", id)
		}
	}
	for id := range acknowledged.releases {
		if found[translog.Release][id] == 0 {
			t.Errorf("the release of round %s is not in the log", id)
		}
	}
	if n := len(found[translog.Model]); n < acknowledged.models {
		t.Errorf("%d models are in the log, of %d", n, acknowledged.models)
	}
	t.Logf("%d rounds, %d releases, %d models acknowledged; %d entries", len(acknowledged.rounds), len(acknowledged.releases), acknowledged.models, c.N)
}

// What log verify prints is what the server did. A log that was tampered with, and one of another key, fail
// with exit code 1, and a wrong call with 2.
func TestLogVerifyPrintsWhatTheServerDid(t *testing.T) {
	dir, web := t.TempDir(), freeAddress(t)
	file, public := logKeys(t, dir, "test.example/log")
	_, stranger := logKeys(t, dir, "stranger.example/log")
	folder := filepath.Join(dir, "log")
	clients, operator := parts(t, run(t, "--log", folder, "--log-key-file", file, "--http", web))
	keys, data := remoteKV(t, dir)
	do(t, "round", "--server", operator, "--id", "first", "--dim", "4", "--param", "sparsity=2", "--min-reports", "2")
	do(t, "encode", "--server", clients, "--round", "first", "--max-epsilon", "1", "--keys", keys, data)
	do(t, "aggregate", "--server", operator, "--round", "first", "--close", "--keys", keys, "--out", filepath.Join(dir, "out"))
	for _, place := range []string{folder, "http://" + web + "/log/"} {
		text := do(t, "log", "verify", "--log", place, "--key", public)
		for _, want := range []string{"round    probe: coco of 4 coordinates", "round    first: coco", "release  first: estimate of 60 reports", "log test.example/log: 3 entries"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", place, want, text)
			}
		}
	}
	if text := do(t, "log", "verify", "--log", folder, "--key", public, "-o", "json"); !strings.Contains(text, `{"index":1,"kind":"round",`) || !strings.Contains(text, `"contradictions":[]`) {
		t.Errorf("JSON: %s", text)
	}
	export := filepath.Join(dir, "export")
	do(t, "rounds", "export", "--server", operator, "--out", export, "--keys", keys, "first")
	if text := do(t, "log", "verify", "--log", folder, "--key", public, "--published", export); !strings.Contains(text, "entry 2 is the estimate in "+export+"\n") {
		t.Errorf("a published estimate: %s", text)
	}
	changed, unknown := filepath.Join(dir, "changed"), filepath.Join(dir, "unknown")
	for to, edit := range map[string][3]string{changed: {"estimates.csv", "\n", "1\n"}, unknown: {"round.json", `"first"`, `"other"`}} {
		if err := os.CopyFS(to, os.DirFS(export)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(to, edit[0]))
		if err != nil || !strings.Contains(string(text), edit[1]) {
			t.Fatalf("%s: %s (%v)", edit[0], text, err)
		}
		writeFile(t, to, edit[0], strings.Replace(string(text), edit[1], edit[2], -1))
	}
	for name, c := range map[string]struct {
		code int
		args []string
		says string
	}{
		"changed":     {1, []string{"--log", folder, "--key", public, "--published", changed}, "entry 2 is another one of this round"},
		"unknown":     {1, []string{"--log", folder, "--key", public, "--published", unknown}, "none of this round"},
		"no export":   {2, []string{"--log", folder, "--key", public, "--published", dir}, "--published"},
		"another key": {1, []string{"--log", folder, "--key", stranger}, "not signed by this key"},
		"no key":      {2, []string{"--log", folder}, "hushgrad log key"},
		"no log":      {2, []string{"--key", public}, "--log"},
		"no witness":  {2, []string{"--log", folder, "--key", public, "--witness", "w"}, "--witness"},
		"no folder":   {1, []string{"--log", filepath.Join(dir, "absent"), "--key", public}, "checkpoint"},
	} {
		var out strings.Builder
		if code := call(t.Context(), append([]string{"log", "verify"}, c.args...), &out, &out); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, c.code, out.String())
		}
	}
}

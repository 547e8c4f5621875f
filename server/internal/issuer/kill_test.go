package issuer

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// The test binary is also the issuer that is killed: with these variables set it answers lines of
// its standard input, on the journal in a file, and kills itself at its first token.
const (
	fileEnv = "HUSHGRAD_ISSUER_FILE"
	killEnv = "HUSHGRAD_ISSUER_KILL" // before or after the commit, or never
)

func TestMain(m *testing.M) {
	if path := os.Getenv(fileEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fileJournal is a memory journal whose batches are in a file before they are made.
type fileJournal struct {
	*journal.Memory
	file *os.File
	kill string
}

// openFile replays the batches of a file.
func openFile(path, kill string) (*fileJournal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &fileJournal{journal.NewMemory(), f, kill}
	for {
		var size int64
		var changes []journal.Change
		if _, err := fmt.Fscanf(f, "%d\n", &size); err != nil {
			return j, nil // the end
		}
		if err := gob.NewDecoder(io.LimitReader(f, size)).Decode(&changes); err != nil {
			return nil, err
		}
		if err := j.Memory.Commit(batchOf(changes)); err != nil {
			return nil, err
		}
	}
}

func batchOf(changes []journal.Change) *journal.Batch {
	var b journal.Batch
	for _, c := range changes {
		if c.To != nil {
			b.Delete(c.Key, c.To)
		} else {
			b.Put(c.Key, c.Value)
		}
	}
	return &b
}

func (j *fileJournal) Commit(b *journal.Batch) error {
	token := strings.HasPrefix(string(b.Changes()[0].Key), tokenPrefix)
	if token && j.kill == "before" {
		die()
	}
	var text strings.Builder
	if err := gob.NewEncoder(&text).Encode(b.Changes()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(j.file, "%d\n%s", text.Len(), text.String())
	if err := errors.Join(err, j.file.Sync()); err != nil {
		return err
	}
	if token && j.kill == "after" {
		die()
	}
	return j.Memory.Commit(b)
}

// die is kill -9 by its own hand.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// child prints the key of round r1, and then for each line, a blinded message, its signature or
// the error.
func child(path string) error {
	j, err := openFile(path, os.Getenv(killEnv))
	if err != nil {
		return err
	}
	i, err := New(Config{Journal: j, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer i.Close()
	k, err := i.CreateKey(context.Background(), "r1", time.Time{})
	if err != nil {
		return err
	}
	fmt.Println(hex.EncodeToString(k.PublicKey))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		blinded, err := hex.DecodeString(lines.Text())
		if err != nil {
			return err
		}
		switch answer, err := i.issueOne(context.Background(), "anna", admit.KeyID(k.PublicKey), blinded); {
		case errors.Is(err, ErrIssued):
			fmt.Println("issued")
		case err != nil:
			return err
		default:
			fmt.Println(hex.EncodeToString(answer))
		}
	}
	return nil
}

// process is a running child.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T, path, kill string) (p process, key []byte) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fileEnv+"="+path, killEnv+"="+kill)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p = process{cmd, in, bufio.NewReader(out)}
	line, err := p.out.ReadString('\n')
	if err == nil {
		key, err = hex.DecodeString(strings.TrimSpace(line))
	}
	if err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	return p, key
}

// ask returns the line that answers a request, or false if the child died.
func (p process) ask(t *testing.T, r *admit.Request) (string, bool) {
	t.Helper()
	if _, err := fmt.Fprintf(p.in, "%x\n", r.BlindedMessage()); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	return strings.TrimSpace(line), err == nil
}

// An issuer that is killed between the commit and the answer has given its token away: after a
// restart the same message gets it, and no other. One that is killed before the commit has not.
func TestAKilledIssuerGivesOneToken(t *testing.T) {
	for _, kill := range []string{"before", "after"} {
		path := filepath.Join(t.TempDir(), "journal")
		p, key := startChild(t, path, kill)
		requests := [2]*admit.Request{ask(t, KeyInfo{PublicKey: key}, [32]byte{1}), ask(t, KeyInfo{PublicKey: key}, [32]byte{1})}
		if line, ok := p.ask(t, requests[0]); ok {
			t.Fatalf("killed %s the commit: answered %q", kill, line)
		}
		if err := p.cmd.Wait(); err == nil {
			t.Fatalf("killed %s the commit: ended by itself", kill)
		}
		p, again := startChild(t, path, "never")
		if string(again) != string(key) {
			t.Fatalf("killed %s the commit: the round has another key", kill)
		}
		first, second := 0, 1 // after the commit the token is the first request's
		if kill == "before" {
			first, second = 1, 0 // and otherwise nobody's
		}
		if kill == "after" {
			if line, _ := p.ask(t, requests[second]); line != "issued" {
				t.Errorf("killed %s the commit: another message got %q", kill, line)
			}
		}
		for range 2 {
			line, _ := p.ask(t, requests[first])
			answer, err := hex.DecodeString(line)
			if err == nil {
				_, err = requests[first].Finalize(answer)
			}
			if err != nil {
				t.Errorf("killed %s the commit: %q, %v", kill, line, err)
			}
			if line, _ := p.ask(t, requests[second]); line != "issued" {
				t.Errorf("killed %s the commit: a second message got %q", kill, line)
			}
		}
	}
}

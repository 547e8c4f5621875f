package main

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
)

// shuffling is a server, an issuer and a shuffler in processes of their own.
type shuffling struct {
	dir, cert         string   // of the issuer, which signs itself
	operator, clients string   // of the server, and of the shuffler
	issuer, keys      string   // the issuer's listeners for clients and for the operator
	secrets           []string // files of clients that the issuer knows
	shuffler          *exec.Cmd
}

// startShuffling starts the three, with a shuffler whose floor is the number of clients.
func startShuffling(t *testing.T, clients int, flags ...string) *shuffling {
	t.Helper()
	s := &shuffling{dir: t.TempDir(), operator: freeAddress(t), clients: freeAddress(t), issuer: freeAddress(t), keys: freeAddress(t)}
	key := filepath.Join(s.dir, "key.pem")
	s.cert = filepath.Join(s.dir, "cert.pem")
	selfSigned(t, s.cert, key)
	var lines []string
	for i := range clients {
		name := "client" + string(rune('a'+i))
		text := strings.Split(printed(t, "issue", "bearer", name), "\n")
		s.secrets, lines = append(s.secrets, writeFile(t, s.dir, name, text[0]+"\n")), append(lines, text[1])
	}
	bearers, upstream := writeFile(t, s.dir, "bearers", strings.Join(lines, "\n")+"\n"), freeAddress(t)
	startCommand(t, "serve", "--listen", freeAddress(t), "--operator-listen", s.operator, "--shuffler-listen", upstream)
	startCommand(t, "issue", "--listen", s.issuer, "--operator-listen", s.keys, "--tls-cert", s.cert, "--tls-key", key, "--bearer-file", bearers)
	s.shuffler = startCommand(t, append([]string{"shuffle", "--listen", s.clients, "--name", "127.0.0.1", "--upstream", upstream, "--floor", "5"}, flags...)...)
	return s
}

// until runs a command line until it works, for processes that have just been started, and returns what it prints.
func until(t *testing.T, args ...string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var stdout, stderr bytes.Buffer
		if call(t.Context(), args, &stdout, &stderr) == 0 {
			return stdout.String()
		}
		if time.Now().After(end) {
			t.Fatalf("%v: %s", args, &stderr)
		}
	}
}

// target is what attackers need of a round: about it, and the length of a sealed report.
func (s *shuffling) target(t *testing.T, id string) (rounds service.RoundsClient, digest [32]byte, size int) {
	t.Helper()
	rounds = service.NewRoundsClient(dialServe(t, s.clients))
	var r fl.Round
	untilAvailable(t, func() error {
		resp, err := rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: id})
		if err == nil {
			r, err = fl.RoundFromProto(resp.GetStatus().GetRound())
		}
		return err
	})
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	format, err := seal.FormatOf(r, m)
	if err == nil {
		digest, err = r.Digest()
	}
	if err != nil {
		t.Fatal(err)
	}
	return rounds, digest, format.Item()
}

// held is what the shuffler keeps on disk, in bytes.
func (s *shuffling) held(t *testing.T) (n int64) {
	t.Helper()
	data := s.shuffler.Args[len(s.shuffler.Args)-1]
	if err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err == nil {
				n += int64(len(bytes.TrimRight(data, "\x00"))) // a journal's file is longer than what it holds
			}
		}
		return nil // a file that went meanwhile
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// noise is random bytes.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// An anonymous caller with 400 kB of random bytes fills the target of a round with tokens, the shuffler
// forwards, the server rejects everything, and the round has ended for its clients. The shuffler checks
// tokens of its own: nothing without one is kept, however much comes, and the round ends with the estimate
// of its clients.
func TestRandomBytesDoNotEndARoundWithTokens(t *testing.T) {
	t.Parallel()
	const clients = 5
	s := startShuffling(t, clients)
	keys := writeFile(t, s.dir, "keys.pem", until(t, "issue", "key", "--server", s.keys, "--tls-ca", s.cert, "--id", "r"))
	until(t, "round", "--server", s.operator, "--id", "r", "--dim", "20", "--epsilon", "2", "--min-reports", "5", "--target-reports", "5",
		"--param", "sparsity=4", "--shuffler", "127.0.0.1", "--issuer-key", keys)
	rounds, digest, size := s.target(t, "r")
	before := s.held(t)
	for what, tokens := range map[string][]byte{"no tokens": nil, "random tokens": noise(1000 * admit.TokenBytes)} {
		_, err := rounds.SubmitBatch(t.Context(), &service.SubmitReportsRequest{RoundId: "r", RoundDigest: digest[:], Reports: noise(1000 * size), Tokens: tokens})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("1000 × %d random bytes, %s: %v", size, what, err)
		}
	}
	s.flood(t, digest, size, func(err error) bool { return status.Code(err) == codes.Unauthenticated })
	if grown := s.held(t) - before; grown > 256<<10 {
		t.Errorf("random bytes took %d bytes of disk", grown)
	}
	resp, err := rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if err != nil || resp.GetStatus().GetState() != service.RoundState_ROUND_STATE_OPEN || resp.GetStatus().GetReports() != 0 {
		t.Fatalf("after the attacks: %v, %v, want an open round without reports", resp.GetStatus(), err)
	}
	pairs := writeFile(t, s.dir, "pairs.csv", "anna,1,0.5\n")
	for _, secret := range s.secrets {
		printed(t, "encode", "--server", s.clients, "--round", "r", "--max-epsilon", "2", "--issuer", s.issuer, "--issuer-tls-ca", s.cert, "--bearer-file", secret, pairs)
	}
	out := filepath.Join(s.dir, "estimate.csv")
	if text := printed(t, "aggregate", "--wait", "--server", s.operator, "--round", "r", "--out", out); !strings.Contains(text, "5 reports") {
		t.Errorf("the estimate: %q, want one of 5 reports", text)
	}
}

// flood sends noise from 4 connections, 2500 pieces from each, and checks the answers.
func (s *shuffling) flood(t *testing.T, digest [32]byte, size int, answer func(error) bool) {
	t.Helper()
	var callers sync.WaitGroup
	for range 4 {
		rounds := service.NewRoundsClient(dialServe(t, s.clients))
		callers.Go(func() {
			for range 25 {
				req := &service.SubmitReportsRequest{RoundId: "r", RoundDigest: digest[:], Reports: noise(100 * size)}
				if answer == nil {
					_, _ = rounds.SubmitBatch(t.Context(), req)
					continue
				}
				req.Tokens = noise(100 * admit.TokenBytes)
				if _, err := rounds.SubmitBatch(t.Context(), req); !answer(err) {
					t.Errorf("noise with noise for tokens: %v", err)
					return
				}
			}
		})
	}
	callers.Wait()
}

// Without tokens nobody can tell noise from reports. The shuffler keeps as much of either as its operator
// says, says so, and has the disk that this takes.
func TestNoiseInARoundWithoutTokensIsBounded(t *testing.T) {
	t.Parallel()
	s := startShuffling(t, 0, "--max-reports", "2000")
	until(t, "round", "--server", s.operator, "--id", "r", "--dim", "20", "--epsilon", "2", "--min-reports", "5", "--param", "sparsity=4", "--shuffler", "127.0.0.1")
	rounds, digest, size := s.target(t, "r")
	before := s.held(t)
	s.flood(t, digest, size, nil)
	_, err := rounds.SubmitBatch(t.Context(), &service.SubmitReportsRequest{RoundId: "r", RoundDigest: digest[:], Reports: noise(size)})
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "must be at most 2000") || !strings.Contains(err.Error(), "--max-reports") {
		t.Errorf("one more piece of noise: %v", err)
	}
	resp, err := rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if err != nil || resp.GetStatus().GetReports() != 2000 {
		t.Errorf("%v, %v, want 2000 reports", resp.GetStatus(), err)
	}
	if grown := s.held(t) - before; grown > 2<<20 { // 10 000 pieces are 2.6 MB or more, and how 2000 are batched decides between .7 and 1.1
		t.Errorf("2000 pieces of %d bytes took %d bytes of disk", size, grown)
	}
}

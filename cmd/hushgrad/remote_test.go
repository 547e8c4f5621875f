package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// remoteKV writes clients of a small key-value round and returns its dictionary and data.
func remoteKV(t *testing.T, dir string) (keys, data string) {
	t.Helper()
	var table strings.Builder
	for u := range 60 {
		fmt.Fprintf(&table, "u%d,pear,%g\nu%d,fig,-0.5\n", u, float64(u%3-1), u)
	}
	return writeFile(t, dir, "keys.txt", "apple\npear\nfig\n"), writeFile(t, dir, "clients.csv", table.String())
}

// parts keeps the clients' address apart from the operator's: only the latter opens rounds.
func parts(t *testing.T, addresses []string, flags ...string) (clients, operator string) {
	t.Helper()
	for i, address := range addresses {
		args := append([]string{"--server", address, "--id", "probe", "--dim", "4", "--param", "sparsity=2"}, flags...)
		if try(t, append([]string{"round"}, args...)) == nil {
			return addresses[1-i], address
		}
	}
	t.Fatal("no listener opens a round")
	return "", ""
}

// From the shell, what a server estimates is what a local aggregate of the same reports
// gives, for rounds that ask for everything about pairs and for those that ask for the mean only.
func TestRemoteEstimatesAreTheLocalOnes(t *testing.T) {
	clients, operator := parts(t, run(t))
	dir := t.TempDir()
	keys, data := remoteKV(t, dir)
	for name, c := range map[string]struct {
		round  []string
		header string
	}{
		"coco":       {[]string{"--mechanism", "coco", "--param", "sparsity=2"}, "key,mean,mean_stderr,frequency,frequency_stderr,conditional\n"},
		"pckv-ue":    {[]string{"--mechanism", "pckv-ue", "--param", "padding=2"}, "key,mean,mean_stderr,frequency,frequency_stderr,conditional\n"},
		"signsketch": {[]string{"--mechanism", "signsketch", "--param", "sparsity=2"}, "key,mean,mean_stderr\n"},
		"mean":       {[]string{"--mechanism", "coco", "--param", "sparsity=2", "--param", "slots=4", "--columns", ""}, "key,mean,mean_stderr\n"},
	} {
		args := append([]string{"round", "--server", operator, "--id", name, "--dim", "4", "--epsilon", "3", "--min-reports", "50"}, c.round...)
		opened := writeFile(t, dir, name+".json", do(t, args...))
		if text := submitSeeded(t, 5, "--server", clients, "--round", name, "--max-epsilon", "3", "--keys", keys, data); !strings.Contains(text, "60 reports under (ε=3") {
			t.Errorf("%s: encode printed %q", name, text)
		}
		reports, here, there := filepath.Join(dir, name+".reports"), filepath.Join(dir, name+"-here"), filepath.Join(dir, name+"-there")
		writeFile(t, dir, name+".reports", encodeSeeded(t, 5, "--round", opened, "--keys", keys, data))
		do(t, "aggregate", "--round", opened, "--keys", keys, "--out", here, reports)
		do(t, "aggregate", "--server", operator, "--round", name, "--close", "--keys", keys, "--out", there)
		if csv := do(t, "aggregate", "--server", operator, "--round", name, "--wait", "--keys", keys); !strings.HasPrefix(csv, c.header) {
			t.Errorf("%s: the CSV starts with %.80q, want %q", name, csv, c.header)
		}
		sameFiles(t, here, there)
	}
}

// silent are streams without input that print nothing.
var silent = command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}

// encodeOf returns the flags of a call of encode.
func encodeOf(t *testing.T, args ...string) *encodeFlags {
	t.Helper()
	e := &encodeFlags{}
	f := flag.NewFlagSet("encode", flag.ContinueOnError)
	e.bind(f)
	if err := command.Parse(f, args); err != nil {
		t.Fatal(err)
	}
	if e.file = f.Arg(0); f.NArg() != 1 {
		t.Fatalf("%q: %d files", args, f.NArg())
	}
	if err := e.validate(f); err != nil {
		t.Fatal(err)
	}
	return e
}

// submitSeeded is encode --server with a seed, which the command line refuses, and returns what
// it prints.
func submitSeeded(t *testing.T, seed uint64, args ...string) string {
	t.Helper()
	e := encodeOf(t, args...)
	e.seed = seed
	var out bytes.Buffer
	if err := e.submit(t.Context(), command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// readAndEncode returns the reports that encode makes of its file.
func readAndEncode(t *testing.T, e *encodeFlags, r fl.Round, m fl.Mechanism) ([][]byte, error) {
	t.Helper()
	people, err := e.read(t.Context(), r, m, silent)
	if err != nil {
		return nil, err
	}
	return e.reports(t.Context(), m, people, silent)
}

// encodeSeeded returns the file of encode --seed without the mark that its reports are seeded,
// which a server does not get to see either.
func encodeSeeded(t *testing.T, seed uint64, args ...string) string {
	t.Helper()
	e := encodeOf(t, args...)
	r, m, err := openRound(t.Context(), e.round, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.seed = seed
	reports, err := readAndEncode(t, e, r, m)
	if err != nil {
		t.Fatal(err)
	}
	e.seed = 0
	var file bytes.Buffer
	if err := e.writeReports(&file, r, reports); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// The order of the reports does not show which client made which report, neither in a file
// nor at a server.
func TestReportsLoseTheOrderOfTheClients(t *testing.T) {
	dir := t.TempDir()
	keys, data := remoteKV(t, dir)
	round := writeFile(t, dir, "round.json", do(t, "round", "--mechanism", "pckv-ue", "--dim", "4", "--epsilon", "3", "--param", "padding=2"))
	r, m, err := openRound(t.Context(), round, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := encodeOf(t, "--round", round, "--keys", keys, "--seed", "5", data)
	reports, err := readAndEncode(t, e, r, m)
	if err != nil || len(reports) != 60 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	inOrder := 0 // of 60 reports with a few bits each, with this seed
	for u, report := range reports {
		pairs := []fl.KeyValue{{Key: 1, Value: float64(u%3 - 1)}, {Key: 2, Value: -0.5}}
		own, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, pairs, e.stream(u+1))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(report, own) {
			inOrder++
		}
	}
	if inOrder > 40 {
		t.Errorf("%d of 60 reports are where their clients are", inOrder)
	}
}

// sameFiles checks that two directories hold the same.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	entries, err := os.ReadDir(a)
	others, otherErr := os.ReadDir(b)
	if err != nil || otherErr != nil || len(entries) < 4 || len(others) != len(entries) {
		t.Fatalf("%d files in %s (%v), %d in %s (%v)", len(entries), a, err, len(others), b, otherErr)
	}
	for _, entry := range entries {
		left, err := os.ReadFile(filepath.Join(a, entry.Name()))
		right, otherErr := os.ReadFile(filepath.Join(b, entry.Name()))
		if err != nil || otherErr != nil || !bytes.Equal(left, right) {
			t.Errorf("%s differs in %s and %s: %v, %v", entry.Name(), a, b, err, otherErr)
		}
	}
}

// The three commands go through TLS, the operator's with its certificate.
func TestRemoteWithTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	mutual := []string{"--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	clients, operator := parts(t, run(t, "--tls-cert", cert, "--tls-key", key, "--operator-ca", cert, "--operator-name", "test"), mutual...)
	keys, data := remoteKV(t, dir)
	do(t, append([]string{"round", "--server", operator, "--id", "r", "--dim", "4", "--min-reports", "5", "--target-reports", "60", "--param", "sparsity=2"}, mutual...)...)
	do(t, "encode", "--server", clients, "--tls-ca", cert, "--max-epsilon", "1", "--keys", keys, data) // the newest open round
	csv := do(t, append([]string{"aggregate", "--server", operator, "--round", "r", "--wait", "--keys", keys}, mutual...)...)
	if strings.Count(csv, "\n") != 5 || !strings.Contains(csv, "\npear,") {
		t.Errorf("aggregate printed %q", csv)
	}
	for name, flags := range map[string][]string{"no TLS": nil, "no certificate": {"--tls-ca", cert}} {
		err := try(t, append([]string{"aggregate", "--server", operator, "--round", "r"}, flags...))
		if status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v, want UNAVAILABLE", name, err)
		}
	}
}

func TestRemoteCommandsRefuse(t *testing.T) {
	t.Parallel()                          // it mostly waits
	clients, operator := parts(t, run(t)) // with an open round named probe of ε = 1
	dir := t.TempDir()
	keys, data := remoteKV(t, dir)
	empty := writeFile(t, dir, "empty.pem", "no certificates here\n")
	for name, c := range map[string]struct {
		param string
		args  []string
	}{
		"server of TLS":      {"--server", []string{"round", "--dim", "4", "--param", "sparsity=2", "--tls-ca", empty}},
		"open network":       {"--server", []string{"round", "--dim", "4", "--param", "sparsity=2", "--server", "192.0.2.1:1"}},
		"half a pair":        {"--tls-cert and --tls-key", []string{"aggregate", "--server", operator, "--round", "r", "--tls-ca", empty, "--tls-cert", empty}},
		"pair alone":         {"--tls-cert", []string{"aggregate", "--server", operator, "--round", "r", "--tls-cert", empty, "--tls-key", empty}},
		"no authority":       {"--tls-ca", []string{"aggregate", "--server", operator, "--round", "r", "--tls-ca", empty}},
		"no limit":           {"--max-epsilon", []string{"encode", "--server", clients, data}},
		"NaN limit":          {"--max-epsilon", []string{"encode", "--server", clients, "--max-epsilon", "NaN", data}},
		"limit of a file":    {"--max-epsilon", []string{"encode", "--round", "r", "--max-epsilon", "1", data}},
		"two destinations":   {"--out", []string{"encode", "--server", clients, "--max-epsilon", "1", "--out", "x", data}},
		"a seed":             {"--seed", []string{"encode", "--server", clients, "--max-epsilon", "1", "--seed", "3", data}},
		"too weak":           {"epsilon", []string{"encode", "--server", clients, "--max-epsilon", "0.9", "--keys", keys, data}},
		"no id":              {"--round", []string{"aggregate", "--server", operator}},
		"files and a server": {"arguments", []string{"aggregate", "--server", operator, "--round", "probe", "file"}},
		"close a file":       {"--close and --wait", []string{"aggregate", "--round", "r", "--close", "file"}},
		"wait for a file":    {"--close and --wait", []string{"aggregate", "--round", "r", "--wait", "file"}},
		"close and wait":     {"--close and --wait", []string{"aggregate", "--server", operator, "--round", "probe", "--close", "--wait"}},
	} {
		var p *fl.ParamError
		if err := try(t, c.args); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", name, err, c.param)
		}
	}
	// To wait is not refused: nobody closes the round, so the wait ends with its interrupt.
	brief, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(50*time.Millisecond, cancel).Stop()
	if err := dispatch(brief, []string{"aggregate", "--server", operator, "--round", "probe", "--wait"}, command.Streams{Out: io.Discard, Err: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for an open round: %v, want the context's error", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for address, rule := range map[string]string{nobody: "must be where it listens, and it must run: ", clients: "must be its listener for hushgrad.v1.Operator, and is another one"} {
		if err := try(t, []string{"rounds", "list", "--server", address}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("--server: got %q, rule: %s", address, rule)) || strings.Contains(err.Error(), "rpc error") {
			t.Errorf("rounds list at %s: %v, want the rule %q", address, err, rule)
		}
	}
	for name, c := range map[string]struct {
		code codes.Code
		args []string
	}{
		"nobody there":   {codes.Unavailable, []string{"encode", "--server", nobody, "--max-epsilon", "1", data}},
		"no such round":  {codes.NotFound, []string{"encode", "--server", clients, "--max-epsilon", "1", "--round", "r", data}},
		"wrong listener": {codes.Unimplemented, []string{"aggregate", "--server", clients, "--round", "probe"}},
		"still open":     {codes.FailedPrecondition, []string{"aggregate", "--server", operator, "--round", "probe"}},
		"too few":        {codes.FailedPrecondition, []string{"aggregate", "--server", operator, "--round", "probe", "--close"}},
		"used id":        {codes.AlreadyExists, []string{"round", "--server", operator, "--id", "probe", "--dim", "4", "--param", "sparsity=2"}},
	} {
		if err := try(t, c.args); status.Code(err) != c.code {
			t.Errorf("%s: %v, want %v", name, err, c.code)
		}
	}
}

// try runs a command line and returns its error.
func try(t *testing.T, args []string) error {
	t.Helper()
	return dispatch(t.Context(), args, command.Streams{Out: io.Discard, Err: io.Discard})
}

package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
	"github.com/hushgrad/hushgrad/server/seal"
)

// roundOf reads what hushgrad round prints.
func roundOf(t *testing.T, text string) fl.Round {
	t.Helper()
	var m pb.Round
	if err := protojson.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	r, err := fl.RoundFromProto(&m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// From the shell: a round with a shuffler takes sealed reports on the shuffler's listener, from a
// party with the shuffler's name, and is closed when they are complete.
func TestARoundWithAShufflerFromTheShell(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair, pool := selfSigned(t, cert, key)
	data, at := filepath.Join(dir, "data"), freeAddress(t)
	var out log
	others := runLogging(t, &out, "--data", data, "--tls-cert", cert, "--tls-key", key, "--shuffler-listen", at, "--shuffler-ca", cert, "--shuffler-name", "test")
	others = slices.DeleteFunc(others, func(address string) bool { return address == at })
	_, operator := parts(t, others, "--tls-ca", cert)
	for _, said := range []string{"in rounds without a shuffler this server sees which connection", "fingerprint="} {
		if strings.Count(out.String(), said) != 1 {
			t.Errorf("the log says %q not once: %s", said, out.String())
		}
	}

	keys := []string{"serve", "keys", "--data", data}
	first := regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(printed(t, keys...), -1)
	if len(first) != 1 || !strings.Contains(out.String(), "fingerprint="+first[0]) {
		t.Errorf("the keys are %v", first)
	}
	added := strings.TrimSpace(printed(t, "serve", "key", "--data", data, "--seal-suite", "mlkem768-x25519"))
	if list := printed(t, keys...); !strings.Contains(list, added+"  mlkem768-x25519") || !strings.Contains(list, first[0]+"  x25519") {
		t.Errorf("after another key: %s", list)
	}

	r := roundOf(t, printed(t, "round", "--server", operator, "--tls-ca", cert, "--id", "r", "--dim", "4", "--epsilon", "5", "--min-reports", "2", "--param", "sparsity=2", "--shuffler", "shuffler.example"))
	if r.Shuffler != "shuffler.example" || seal.FingerprintOf(r.SealKey).String() != added {
		t.Errorf("the round has the shuffler %q and the key %s, want %s", r.Shuffler, seal.FingerprintOf(r.SealKey), added)
	}
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.NewSealer(r.SealKey, digest)
	if err != nil {
		t.Fatal(err)
	}
	var sealed []byte
	for range 3 {
		report, err := m.Encode(nil, []float64{1, 0, 0, 0}, nil)
		if err == nil {
			sealed, err = sealer.Seal(sealed, report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	// With another name, or on another listener, nobody is the shuffler.
	forward := func(address string, certificates ...tls.Certificate) error {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: certificates})))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, err = service.NewShuffledClient(conn).ForwardReports(t.Context(), &service.ForwardReportsRequest{RoundId: "r", RoundDigest: digest[:], Sealed: sealed})
		if err == nil {
			_, err = service.NewShuffledClient(conn).CompleteRound(t.Context(), &service.CompleteRoundRequest{RoundId: "r", RoundDigest: digest[:]})
		}
		return err
	}
	if err := forward(at); status.Code(err) != codes.Unavailable {
		t.Errorf("without a certificate: %v", err)
	}
	for _, address := range others {
		if err := forward(address, pair); status.Code(err) != codes.Unimplemented {
			t.Errorf("on another listener: %v", err)
		}
	}
	if err := forward(at, pair); err != nil {
		t.Fatal(err)
	}
	if text := printed(t, "aggregate", "--server", operator, "--tls-ca", cert, "--round", "r"); !strings.Contains(text, "mean") {
		t.Errorf("the estimate: %s", text)
	}
}

func TestKeysAreNotMadeByLookingForThem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, command := range []string{"key", "keys"} {
		var stderr bytes.Buffer
		if code := call(t.Context(), []string{"serve", command, "--seal-keys", dir}, io.Discard, &stderr); code == 0 || !strings.Contains(stderr.String(), "no such key") {
			t.Errorf("%s: exit code %d, %s", command, code, stderr.String())
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("there is a directory")
	}
}

// What helps where there is no key does not help where others may read one.
func TestKeysSayWhatHelps(t *testing.T) {
	dir := t.TempDir()
	if text := refusal(t, "serve", "keys", "--seal-keys", filepath.Join(dir, "none")); !strings.Contains(text, "makes the first one") {
		t.Errorf("no key: %q", text)
	}
	keys, err := seal.OpenKeys(filepath.Join(dir, "keys"), seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	newest, err := keys.Newest()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "keys", newest.Fingerprint().String()[:16]+".key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text := refusal(t, "serve", "keys", "--seal-keys", filepath.Join(dir, "keys")); !strings.Contains(text, "mode") || strings.Contains(text, "makes the first one") {
		t.Errorf("a key that others read: %q", text)
	}
}

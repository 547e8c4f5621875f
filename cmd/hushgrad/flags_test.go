package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// A flag that would be ignored is an error that names it.
func TestFlagsThatWouldBeIgnoredAreErrors(t *testing.T) {
	dir := t.TempDir()
	round := writeFile(t, dir, "round.json", smallRound)
	amplify := func(args ...string) []string { return append([]string{"account", "amplify"}, args...) }
	fingerprint := strings.Repeat("ab", 32)
	encodeVia := func(shuffler string, args ...string) []string {
		return append(append([]string{"encode", "--server", "127.0.0.1:1", "--max-epsilon", "1", "--shuffler", shuffler}, args...), "-")
	}
	compose := func(args ...string) []string { return append([]string{"account", "compose"}, args...) }
	for _, c := range []struct {
		param string
		args  []string
	}{
		{"--max-epsilon", []string{"encode", "--round", round, "--max-epsilon", "0", "file"}},
		{"--round", []string{"encode", "--round", "-", "-"}},
		{"--round", []string{"aggregate", "--round", "-", "-"}},
		{"--param", []string{"round", "--dim", "5", "--param", "sparsity=2", "--param", "sparsity=3"}},
		{"arguments", []string{"version", "now"}},
		{"--dashboard", []string{"serve", "--dashboard", "7122"}},
		{"--http", []string{"serve", "--http", "7125"}},
		{"--http", []string{"serve", "--http", ":7125"}},
		{"--http", []string{"shuffle", "--name", "a.example", "--upstream", "127.0.0.1:1", "--http", ":7125"}},
		{"--http-origin", []string{"serve", "--http-origin", "https://example.org"}},
		{"--http-origin", []string{"serve", "--http", "127.0.0.1:0", "--http-origin", "http://example.org"}},
		{"--http-origin", []string{"serve", "--http", "127.0.0.1:0", "--http-origin", "https://example.org", "--http-origin", "*"}},
		{"--keep-rounds", []string{"serve", "--keep-rounds", "0"}},
		{"--keep-rounds", []string{"serve", "--keep-rounds", "-1"}},
		{"--max-open-rounds", []string{"serve", "--max-open-rounds", "0"}},
		{"--max-message-bytes", []string{"serve", "--max-message-bytes", "0"}},
		{"--max-model-bytes", []string{"serve", "--max-model-bytes", "0"}},
		{"--max-connections", []string{"serve", "--max-connections", "0"}},
		{"--max-in-flight-bytes", []string{"serve", "--max-in-flight-bytes", "0"}},
		{"--progress-timeout", []string{"serve", "--progress-timeout", "0s"}},
		{"--shutdown-timeout", []string{"serve", "--shutdown-timeout", "0s"}},
		{"--shuffler-listen", []string{"serve", "--shuffler-listen", ":0"}},
		{"--shuffler-listen", []string{"serve", "--shuffler-listen", ":0", "--insecure"}},
		{"--shuffler-ca", []string{"serve", "--shuffler-ca", "a"}},
		{"--shuffler-name", []string{"serve", "--shuffler-name", "a"}},
		{"--shuffler-ca", []string{"serve", "--shuffler-listen", ":0", "--shuffler-ca", "a", "--shuffler-name", "b"}},
		{"--shuffler-name", []string{"serve", "--shuffler-listen", ":0", "--shuffler-ca", "a", "--tls-cert", "c", "--tls-key", "k"}},
		{"--seal-keys", []string{"serve", "--shuffler-listen", "127.0.0.1:0", "--data", "none"}},
		{"--seal-suite", []string{"serve", "--shuffler-listen", "127.0.0.1:0", "--seal-suite", "rot13"}},
		{"--seal-keys", []string{"serve", "--seal-keys", "dir"}},
		{"--seal-suite", []string{"serve", "--seal-suite", "mlkem768-x25519"}},
		{"--seal-keys", []string{"serve", "keys", "--data", "none"}},
		{"--shuffler", []string{"round", "--dim", "9", "--shuffler", "shuffler.example"}},
		{"--max-keys", []string{"issue", "--max-keys", "0"}},
		{"--client-ca or --bearer-file", []string{"issue"}},
		{"--client-ca and --bearer-file", []string{"issue", "--client-ca", "a", "--bearer-file", "b"}},
		{"--tls-cert", []string{"issue", "--bearer-file", "b"}},
		{"flags", []string{"issue", "--bearer-file", "b", "--insecure"}}, // the issuer has no such flag
		{"--operator-listen", []string{"issue", "--bearer-file", "b", "--tls-cert", "c", "--tls-key", "k", "--operator-listen", ":0"}},
		{"--http-origin", []string{"issue", "--bearer-file", "b", "--tls-cert", "c", "--tls-key", "k", "--http-origin", "https://example.org"}},
		{"--http-origin", []string{"issue", "--bearer-file", "b", "--tls-cert", "c", "--tls-key", "k", "--http", "127.0.0.1:0", "--http-origin", "*"}},
		{"--http-origin", []string{"issue", "--client-ca", "a", "--tls-cert", "c", "--tls-key", "k", "--http", "127.0.0.1:0", "--http-origin", "https://example.org"}},
		{"--operator-name", []string{"issue", "--bearer-file", "b", "--tls-cert", "c", "--tls-key", "k", "--operator-ca", "a"}},
		{"--server", []string{"issue", "key", "--id", "r"}},
		{"--id", []string{"issue", "drop", "--server", "127.0.0.1:1"}},
		{"arguments", []string{"issue", "bearer"}},
		{"name", []string{"issue", "bearer", "#"}},
		{"--issuer-key", []string{"round", "--dim", "9", "--issuer-key", round}},
		{"--issuer", []string{"encode", "--round", round, "--issuer", "127.0.0.1:1", "-"}},
		{"--issuer", []string{"encode", "--server", "127.0.0.1:1", "--max-epsilon", "1", "--issuer", "example.com:1", "-"}},
		{"--issuer", []string{"encode", "--server", "127.0.0.1:1", "--max-epsilon", "1", "--issuer-tls-ca", "a", "-"}},
		{"--bearer-file", []string{"encode", "--server", "127.0.0.1:1", "--max-epsilon", "1", "--issuer", "127.0.0.1:1", "--bearer-file", "b", "-"}},
		{"--ahead", []string{"encode", "--round", round, "--ahead", "r2", "-"}},
		{"--ahead", []string{"encode", "--server", "127.0.0.1:1", "--max-epsilon", "1", "--issuer", "127.0.0.1:1", "--ahead", "r2", "-"}},
		{"--shuffler", []string{"encode", "--round", round, "--shuffler", "s.example", "-"}},
		{"--central-delta", []string{"encode", "--round", round, "--central-delta", "1e-6", "-"}},
		{"--seal-key", encodeVia("s.example")},
		{"--seal-key", encodeVia("s.example", "--seal-key", "12")},
		{"--max-central-epsilon", encodeVia("", "--max-central-epsilon", "1")},
		{"--max-central-epsilon", encodeVia("s.example", "--seal-key", fingerprint)},
		{"--max-central-epsilon", encodeVia("s.example", "--seal-key", fingerprint, "--max-central-epsilon", "NaN")},
		{"--central-delta", encodeVia("s.example", "--seal-key", fingerprint, "--max-central-epsilon", "1", "--central-delta", "1")},
		{"--max-epsilon", []string{"encode", "--server", "127.0.0.1:1", "--shuffler", "s.example", "--seal-key", fingerprint, "--max-central-epsilon", "1", "-"}},
		{"--samples", []string{"verify", "--method", "exact", "--samples", "500", round}},
		{"--confidence", []string{"verify", "--method", "exact", "--confidence", "0.9", round}},
		{"--seeds", []string{"verify", "--method", "statistical", "--seeds", "5", round}},
		{"--epsilon", amplify("--dim", "9", "--target", "1", "--epsilon", "1")},
		{"--clients-for", amplify("--dim", "9", "--target", "1", "--clients-for", "1")},
		{"--epsilon-central", amplify("--dim", "9", "--target", "1", "--epsilon-central", "1")},
		{"--epsilon-central", amplify("--dim", "9", "--clients-for", "1", "--epsilon-central", "1")},
		{"--reports", amplify("--dim", "9", "--clients-for", "1", "-n", "1000")},
		{"--delta", amplify("--dim", "9", "--epsilon-central", "1", "--delta", "1e-6")},
		{"--target", amplify("--dim", "9", "--target", "0")},
		{"--dim", amplify("--mechanism", "generic", "--dim", "9")},
		{"--mechanism", amplify("--mechanism", realNumbersName, "--dim", "9")},
		{"--sparsity", amplify("--mechanism", "generic", "--sparsity", "9")},
		{"--columns", amplify("--mechanism", "generic", "--columns", "")},
		{"--param", amplify("--mechanism", "generic", "--param", "a=1")},
		{"--sparsity", amplify("--mechanism", "pckv-ue", "--dim", "9", "--sparsity", "3")},
		{"--param", amplify("--dim", "99", "--sparsity", "3", "--param", "sparsity=4")},
		{"--sigma", compose("--epsilon", "1", "--sigma", "0")},
		{"--epsilon", compose("--kind", "gaussian", "--sigma", "3", "--epsilon", "1")},
		{"--delta-each", compose("--epsilon", "1", "--delta-each", "1e-9")},
		{"--count", compose("--events", os.DevNull, "--count", "3")},
		{"--epsilon", compose("--count", "50")},
		{"--plot", compose("--epsilon", "1", "--plot", filepath.Join(dir, "curve.jpg"))},
		{"--plot", compose("--epsilon", "1", "--plot", filepath.Join(dir, "absent", "curve.png"))},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // for a call that serves and should not
		var stdout, stderr bytes.Buffer
		err := dispatch(ctx, c.args, command.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
		cancel()
		code := command.Run(t.Context(), "hushgrad", func(context.Context, []string, command.Streams) error { return err }, nil, command.Streams{Err: &stderr})
		var p *fl.ParamError
		if code != 2 || !errors.As(err, &p) || p.Param != c.param || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit code %d, printed %q and %q, error %v; want one line about %s", c.args, code, stdout.String(), stderr.String(), err, c.param)
		}
	}
}

// A wrong flag or type is one line, which says where help is. Help is printed on request, and
// begins alike for every command.
func TestHelpAndWrongFlags(t *testing.T) {
	for _, name := range []string{
		"serve", "serve key", "serve keys", "issue", "issue key", "issue keys", "issue drop", "issue bearer", "certify", "health", "round", "encode", "aggregate",
		"rounds list", "rounds watch", "rounds abort", "rounds export", "account amplify", "account compose", "account plan", "verify", "version",
	} {
		words := strings.Fields(name)
		var stderr bytes.Buffer
		if code := call(t.Context(), append(words, "--no-such-flag"), io.Discard, &stderr); code != 2 || strings.Count(stderr.String(), "\n") != 1 ||
			!strings.Contains(stderr.String(), "--no-such-flag") || !strings.HasSuffix(stderr.String(), "see hushgrad "+name+" --help\n") {
			t.Errorf("%s --no-such-flag: exit code %d, printed %q", name, code, stderr.String())
		}
		stderr.Reset()
		var stdout, again bytes.Buffer
		if code := call(t.Context(), append(words, "--help"), &stdout, &stderr); code != 0 || !strings.HasPrefix(stdout.String(), "Usage: hushgrad "+name) || !strings.Contains(stdout.String(), "\n\n") || stderr.Len() > 0 {
			t.Errorf("%s --help: exit code %d, printed %q and %q", name, code, stdout.String(), stderr.String())
		}
		if code := call(t.Context(), append([]string{"help"}, words...), &again, &stderr); code != 0 || again.String() != stdout.String() {
			t.Errorf("help %s: exit code %d, printed %q", name, code, again.String())
		}
	}
}

// What computes for long ends with an interrupt, and with its exit code.
func TestLongComputationsAreInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	round, reports := reportsOf(t, dir)
	plot := filepath.Join(dir, "curve.png")
	for _, args := range [][]string{
		{"account", "amplify", "--dim", "7850"},
		{"account", "amplify", "--dim", "7850", "--target", "0.1"},
		{"account", "amplify", "--dim", "7850", "--clients-for", "0.1"},
		{"account", "compose", "--epsilon", "0.1", "--count", "9", "--plot", plot},
		{"account", "plan"},
		{"verify", round},
		{"encode", "--round", round, filepath.Join(dir, "clients.csv")},
		{"aggregate", "--round", round, reports},
	} {
		var stdout, stderr bytes.Buffer
		if code := call(ctx, args, &stdout, &stderr); code != 130 || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, printed %q and %q", args, code, stdout.String(), stderr.String())
		}
	}
	if _, err := os.Stat(plot); err == nil {
		t.Error("there is a plot")
	}
}

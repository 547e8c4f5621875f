package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The server's own log says who did what as its operator, by the names in the certificate, also what was
// refused.
func TestTheServersLogNamesTheOperator(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key) // for test
	operator := freeAddress(t)
	out := &log{}
	go func() {
		_ = call(t.Context(), []string{"serve", "--data", noData, "--listen", "127.0.0.1:0", "--operator-listen", operator, "--log-format", "json",
			"--tls-cert", cert, "--tls-key", key, "--operator-ca", cert, "--operator-name", "test"}, nil, out)
	}()
	out.waitFor(t, `"listener":"operator"`)
	tls := []string{"--server", operator, "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key}
	do(t, append([]string{"round", "--id", "r", "--dim", "4", "--param", "sparsity=2"}, tls...)...)
	if err := try(t, append([]string{"aggregate", "--round", "r", "--close"}, tls...)); err == nil {
		t.Error("a round without reports was closed")
	}
	do(t, append([]string{"rounds", "abort", "r"}, tls...)...)
	var got []string
	for line := range strings.Lines(out.String()) {
		var l struct{ Msg, Action, By, Round, Error string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if l.Msg == "operator" {
			if l.Error != "" {
				l.Action += " refused"
			}
			got = append(got, l.Action+" "+l.Round+" by "+l.By)
		}
	}
	want := "OpenRound r by test; CloseRound refused r by test; AbortRound r by test"
	if strings.Join(got, "; ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

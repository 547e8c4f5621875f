package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A client that pins a shuffler reads both figures, and against whom each holds. One that does not
// reads the local one alone.
func TestEncodeSaysAgainstWhomItsFiguresHold(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	clients, operator, listener, fingerprint := shuffledServer(t, cert, key)
	out := runRole(t, "shuffle", "--name", "127.0.0.1", "--listen", "127.0.0.1:0", "--data", noData, "--tls-cert", cert, "--tls-key", key,
		"--upstream", listener, "--upstream-tls-ca", cert, "--upstream-tls-cert", cert, "--upstream-tls-key", key)
	shuffler := out.addresses(t, 1)[0]
	printed(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "2", "--min-reports", "1000", "--param", "sparsity=2",
		"--shuffler", "127.0.0.1", "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key)
	encode := []string{"encode", "--server", shuffler, "--tls-ca", cert, "--round", "r", "--max-epsilon", "2"}
	pairs := writeFile(t, dir, "pairs.csv", "anna,1,0.5\n")
	if text := printed(t, append(encode, pairs)...); !strings.Contains(text, "1 report under (ε=2, δ=0)-DP, local model, replace-one: taken in for round r by the shuffler 127.0.0.1\n") || strings.Contains(text, "against the server") {
		t.Errorf("without pins it prints %q", text)
	}
	pinned := append(encode[:len(encode):len(encode)], "--shuffler", "127.0.0.1", "--seal-key", fingerprint, "--max-central-epsilon", "1", "--central-delta", "1e-5", pairs)
	central := regexp.MustCompile(`against the server: \(ε=0\.\d+, δ=1e-05\)-DP, shuffle model, replace-one, if 127\.0\.0\.1 does not work together with it and 1000 of the reports are from honest clients\n$`)
	if text := printed(t, pinned...); !central.MatchString(text) {
		t.Errorf("with pins it prints %q", text)
	}
	if text := refusal(t, append(pinned[:len(pinned)-5:len(pinned)-5], "--max-central-epsilon", "0.01", pairs)...); !strings.Contains(text, "central guarantee: fl: refused by the client's policy") {
		t.Errorf("beyond the central budget: %q", text)
	}
	// A refusal names what was found and what is trusted.
	printed(t, "round", "--server", operator, "--id", "direct", "--dim", "4", "--epsilon", "2", "--min-reports", "1000", "--param", "sparsity=2",
		"--tls-ca", cert, "--tls-cert", cert, "--tls-key", key)
	other := strings.Repeat("ab", 32)
	for name, c := range map[string]struct{ server, round, shuffler, key, want string }{
		"another shuffler": {shuffler, "r", "shuffler.example", fingerprint, `shuffler: got "127.0.0.1", rule: must be one that the policy pins: "shuffler.example"`},
		"another key":      {shuffler, "r", "127.0.0.1", other, `seal_key: got "` + fingerprint + `", rule: must have a fingerprint that the policy pins: "[` + other + `]"`},
		"no shuffler":      {clients, "direct", "127.0.0.1", fingerprint, `shuffler: got "", rule: must be one that the policy pins: "127.0.0.1"`},
	} {
		text := refusal(t, "encode", "--server", c.server, "--tls-ca", cert, "--round", c.round, "--max-epsilon", "2", "--shuffler", c.shuffler, "--seal-key", c.key, "--max-central-epsilon", "1", pairs)
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

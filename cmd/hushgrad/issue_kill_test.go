package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/durable/outage"
)

// An issuer that is killed after each token has its keys, and knows who has had a token, as soon as it runs again.
func TestAKilledIssuerKnowsWhoHasTokens(t *testing.T) {
	if !*long {
		t.Skip("starts an issuer again and again")
	}
	const rounds = 8
	dir, power := t.TempDir(), outage.Disk(t, "issuer")
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	clients, operator := parts(t, run(t))
	text := strings.Split(printed(t, "issue", "bearer", "anna"), "\n")
	secret := writeFile(t, dir, "anna", text[0]+"\n")
	issuers, keys := freeAddress(t), freeAddress(t)
	args := []string{"issue", "--data", filepath.Join(power, "issuer"), "--listen", issuers, "--operator-listen", keys, "--tls-cert", cert, "--tls-key", key,
		"--bearer-file", writeFile(t, dir, "bearers", text[1]+"\n")}
	pairs := writeFile(t, dir, "one.csv", "anna,1,0.5\n")
	encode := func(round int) []string {
		return []string{"encode", "--server", clients, "--max-epsilon", "5", "--round", fmt.Sprint("r", round), "--issuer", issuers, "--issuer-tls-ca", cert, "--bearer-file", secret, pairs}
	}
	var pems []string
	for i := range rounds {
		process := startCommand(t, args...)
		answers(t, issuers, keys)
		for before, pem := range pems {
			if again := printed(t, "issue", "key", "--server", keys, "--tls-ca", cert, "--id", fmt.Sprint("r", before)); again != pem {
				t.Errorf("round %d has another key after %d kills", before, i)
			}
		}
		if text := printed(t, "issue", "keys", "--server", keys, "--tls-ca", cert); strings.Count(text, " 1 ") != i {
			t.Errorf("after %d kills: %s", i, text)
		}
		id := fmt.Sprint("r", i)
		pem := printed(t, "issue", "key", "--server", keys, "--tls-ca", cert, "--id", id)
		pems = append(pems, pem)
		printed(t, "round", "--server", operator, "--id", id, "--dim", "4", "--epsilon", "5", "--min-reports", "1", "--param", "sparsity=2", "--issuer-key", writeFile(t, dir, id+".pem", pem))
		printed(t, encode(i)...)
		outage.During(t, power, func() {
			_ = process.Process.Signal(os.Kill)
			_ = process.Wait()
		})
	}
	startCommand(t, args...)
	answers(t, issuers, keys)
	for i := range rounds {
		if text := refusal(t, encode(i)...); !strings.Contains(text, "AlreadyExists") {
			t.Errorf("round %d: a second token: %q", i, text)
		}
	}
}

//go:build setclock && linux && amd64

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/setclock"
)

// clockFile is a variable of the environment. It names a file with the seconds by which the clock of a hushgrad is off.
const clockFile = "HUSHGRAD_TEST_CLOCK"

func init() {
	if path := os.Getenv(clockFile); path != "" {
		if err := setclock.Follow(path); err != nil {
			panic(err)
		}
	}
}

// clocks are the clocks of roles, each in a file.
type clocks struct{ dir string }

// of makes the processes that are started next have the clock of a role.
func (c clocks) of(t *testing.T, role string) {
	t.Helper()
	c.set(t, role, 0)
	t.Setenv(clockFile, filepath.Join(c.dir, role))
}

// set sets the clock of a role, which has it when set returns.
func (c clocks) set(t *testing.T, role string, off time.Duration) {
	t.Helper()
	if err := setclock.Set(filepath.Join(c.dir, role), off); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // it reads the file every 5 ms, and what it does regularly it does once a second
}

// The clock of each role is set a day ahead, and a day back, in the middle of a round that ends in an hour, with certificates that are new and
// a key that is pending. Every report is counted, no key is lost, and the next round opens.
func TestClocksThatAreADayOff(t *testing.T) {
	const name, ahead = "shuffler.test", 24 * time.Hour
	dir := t.TempDir()
	all := clocks{t.TempDir()}
	parties := filepath.Join(dir, "parties")
	people := []string{"anna", "bert", "carl", "dora"}
	printed(t, "certify", "--shuffler", name, "--clients", strings.Join(people, ","), parties)
	t.Setenv("SSL_CERT_FILE", filepath.Join(parties, "ca.pem"))
	with := func(party, prefix string) []string {
		return []string{"--" + prefix + "tls-cert", filepath.Join(parties, party, "cert.pem"), "--" + prefix + "tls-key", filepath.Join(parties, party, "key.pem")}
	}
	ca := filepath.Join(parties, "ca.pem")
	var at [9]string
	for i := range at {
		at[i] = freeAddress(t)
	}
	clients, operators, upstream, shuffled, shuffledHTTP, issuers, keys, issuersHTTP, relayed := at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]
	issuerRelay := freeAddress(t)
	shufflerKey, shufflerConfig := gatewayKey(t, dir, "shuffler.key")
	issuerKey, issuerConfig := gatewayKey(t, dir, "issuer.key")
	data := filepath.Join(dir, "server")
	operator := append([]string{"--tls-ca", ca}, with("operator", "")...)

	all.of(t, "server")
	startCommand(t, append([]string{"serve", "--data", data, "--listen", clients, "--operator-listen", operators, "--shuffler-listen", upstream,
		"--operator-ca", ca, "--operator-name", "operator", "--shuffler-ca", ca, "--shuffler-name", name}, with("serve", "")...)...)
	all.of(t, "issuer")
	startCommand(t, append([]string{"issue", "--listen", issuers, "--operator-listen", keys, "--http", issuersHTTP, "--ohttp-key", issuerKey,
		"--operator-ca", ca, "--operator-name", "operator", "--bearer-file", filepath.Join(parties, "issue", "bearers")}, with("issue", "")...)...)
	all.of(t, "shuffler")
	startCommand(t, append(append([]string{"shuffle", "--listen", shuffled, "--name", name, "--floor", "4", "--upstream", upstream, "--http", shuffledHTTP, "--ohttp-key", shufflerKey,
		"--upstream-tls-ca", ca}, with("shuffle", "upstream-")...), with("shuffle", "")...)...)
	answers(t, operators, upstream, shuffledHTTP, issuersHTTP, keys)
	all.of(t, "relay")
	startCommand(t, append([]string{relayRole, "--gateway", "https://" + shuffledHTTP, "--listen", relayed}, with("shuffle", "")...)...)
	startCommand(t, append([]string{relayRole, "--gateway", "https://" + issuersHTTP, "--listen", issuerRelay}, with("shuffle", "")...)...)
	answers(t, relayed, issuerRelay)
	all.of(t, "client")

	before := listedKeys(t, filepath.Join(data, "seal-keys"))
	printed(t, "serve", "keys", "rotate", "--data", data, "--after", "12h")
	report := func(t *testing.T, id, who string) {
		t.Helper()
		encode := exec.Command(os.Args[0], "encode", "--relay", "https://"+relayed, "--relay-key", shufflerConfig, "--round", id, "--max-epsilon", "4", "--max-central-epsilon", "4",
			"--shuffler", name, "--seal-key", before[activeKey].String(), "--issuer-relay", "https://"+issuerRelay, "--issuer-relay-key", issuerConfig,
			"--bearer-file", filepath.Join(parties, "clients", who, "secret"), writeFile(t, t.TempDir(), who+".csv", who+",1,0.5\n"))
		encode.Env = append(os.Environ(), asCommand+"=1")
		if out, err := encode.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", who, err, out)
		}
	}
	for _, role := range []string{"server", "shuffler", "issuer", "relay", "client"} {
		for word, off := range map[string]time.Duration{"ahead": ahead, "back": -ahead} {
			t.Run(role+" "+word, func(t *testing.T) {
				id := role + "-" + word
				pem := writeFile(t, dir, id, printed(t, append([]string{"issue", "key", "--id", id, "--life", "2h", "--server", keys}, operator...)...))
				printed(t, append([]string{"round", "--server", operators, "--id", id, "--shuffler", name, "--issuer-key", pem, "--mechanism", "collision", "--dim", "3",
					"--epsilon", "4", "--min-reports", "4", "--param", "sparsity=2", "--deadline", "1h"}, operator...)...)
				report(t, id, people[0])
				report(t, id, people[1])
				all.set(t, role, off)
				defer all.set(t, role, 0)
				report(t, id, people[2])
				report(t, id, people[3])
				printed(t, append([]string{"aggregate", "--server", operators, "--round", id, "--close"}, operator...)...)
				lists := printed(t, append([]string{"rounds", "list", "--server", operators}, operator...)...)
				if !regexp.MustCompile(id + ` +closed +4 `).MatchString(lists) {
					t.Errorf("rounds: %s", lists)
				}
				if text := printed(t, append([]string{"issue", "keys", "--server", keys}, operator...)...); !strings.Contains(text, id) {
					t.Errorf("the issuer has lost the keys of round %s: %s", id, text)
				}
			})
		}
	}
	after := listedKeys(t, filepath.Join(data, "seal-keys"))
	for state, key := range before {
		if after[state] != key {
			t.Errorf("the %s key was %v and is %v", state, key, after[state])
		}
	}
}

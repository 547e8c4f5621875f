package cluster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/cmd/hushgrad-broker/broker"
)

// From the shell: two members and a shuffler at a broker. Whichever member leads, all
// others find it.
func TestAClusterFromTheShell(t *testing.T) {
	build(t)
	t.Parallel()
	dir := t.TempDir()
	at, keys := startBroker(t, "127.0.0.1:0"), filepath.Join(dir, "keys")
	var operators, shufflers []string
	member := func(name string, flags ...string) *log {
		operators, shufflers = append(operators, freeAddress(t)), append(shufflers, freeAddress(t))
		return runRole(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--operator-listen", operators[len(operators)-1],
			"--shuffler-listen", shufflers[len(shufflers)-1], "--seal-keys", keys, "--data", filepath.Join(dir, name)}, flags...)...)
	}
	first := member("a", "--nats", at, "--nats-replicas", "1", "--shard", "0/2", "--metrics-listen", "127.0.0.1:0")
	first.waitFor(t, "this member leads")
	if text := refusal(t, "serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--shuffler-listen", "127.0.0.1:0", "--seal-keys", keys,
		"--data", filepath.Join(dir, "other"), "--nats", at, "--nats-replicas", "1", "--shard", "1/3"); !strings.Contains(text, `--shard: got "1/3"`) || !strings.Contains(text, "must be 2") {
		t.Errorf("another number of shards: %q", text)
	}
	member("b", "--nats", at, "--nats-replicas", "1", "--shard", "1/2").waitFor(t, "shard taken")
	fingerprint := first.find(t, `fingerprint=([0-9a-f]{64})`)
	shuffler := runRole(t, "shuffle", "--name", "127.0.0.1", "--floor", "3", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "shuffler"),
		"--upstream", strings.Join(shufflers, ","), "--nats", at).find(t, servingAt)
	operator := strings.Join([]string{operators[1], operators[0]}, ",")
	printed(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "2", "--min-reports", "3", "--param", "sparsity=2", "--shuffler", "127.0.0.1")
	pairs := writeFile(t, dir, "pairs.csv", "anna,1,0.5\nbert,2,0.25\n")
	for range 2 {
		printed(t, "encode", "--server", shuffler, "--round", "r", "--max-epsilon", "2", "--shuffler", "127.0.0.1",
			"--seal-key", fingerprint, "--max-central-epsilon", "2", pairs)
	}
	printed(t, "aggregate", "--server", operator, "--round", "r", "--close")
	if text := printed(t, "rounds", "list", "--server", operator); !strings.Contains(text, "closed") || !strings.Contains(text, " 4 ") {
		t.Errorf("rounds %q", text)
	}
	if text := refusal(t, "round", "--server", operator, "--id", "direct", "--dim", "4", "--param", "sparsity=2"); !strings.Contains(text, "shuffler") {
		t.Errorf("a round without a shuffler: %q", text)
	}
	monitor := first.find(t, monitoringAt)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, shown := page(t, "http://"+monitor+"/metrics")
		missing := namedFigures(t)
		for name := range missing {
			if regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(shown) {
				delete(missing, name)
			}
		}
		if len(missing) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("pages name figures that a member does not show: %v", missing)
		}
	}
}

// startBroker starts a broker that ends with the test, and returns its URL.
func startBroker(t *testing.T, address string) string {
	t.Helper()
	b, err := broker.Start(broker.Config{Dir: t.TempDir(), Listen: address, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b.URL()
}

// namedFigures are the figures of a cluster that the page, the alerts and the dashboard name.
func namedFigures(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, path := range []string{"scale.md", "deploy/alerts.yml", "deploy/grafana.json"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", path))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`hushgrad_(?:cluster|shard)_\w+`).FindAllString(string(text), -1) {
			names[name] = true
		}
	}
	if len(names) < 6 {
		t.Errorf("pages name the figures %v, want at least six", names)
	}
	return names
}

package cluster_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A member and a shuffler may be started before the brokers. They say what they wait for, the member
// at its monitor, too, and begin when the brokers are there.
func TestMembersWaitForBrokersThatComeLater(t *testing.T) {
	if !*long {
		t.Skip("waits for seconds")
	}
	build(t)
	t.Parallel()
	dir := t.TempDir()
	broker, keys, upstream := freeAddress(t), filepath.Join(dir, "keys"), freeAddress(t)
	member := runRole(t, "serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--shuffler-listen", upstream, "--seal-keys", keys,
		"--data", filepath.Join(dir, "a"), "--metrics-listen", "127.0.0.1:0", "--nats", "nats://"+broker, "--nats-replicas", "1", "--shard", "1/2")
	shuffler := runRole(t, "shuffle", "--name", "127.0.0.1", "--floor", "3", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "shuffler"),
		"--upstream", upstream, "--nats", "nats://"+broker)
	alone := runRole(t, "serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--shuffler-listen", "127.0.0.1:0", "--seal-keys", keys,
		"--data", filepath.Join(dir, "c"), "--nats", "nats://"+freeAddress(t), "--shard", "0/2") // it is stopped while it waits
	for _, l := range []*log{member, shuffler, alone} {
		l.waitFor(t, "the brokers cannot be reached, trying again")
		l.waitFor(t, "connection refused")
		l.waitFor(t, "waiting for a connection to the brokers")
	}
	monitor := "http://" + member.find(t, monitoringAt)
	if status, text := page(t, monitor+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "waiting for the brokers: a majority of them is needed") {
		t.Errorf("%d %q while the brokers are away", status, text)
	}
	startBroker(t, broker)
	first := runRole(t, "serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--shuffler-listen", "127.0.0.1:0", "--seal-keys", keys,
		"--data", filepath.Join(dir, "b"), "--nats", "nats://"+broker, "--nats-replicas", "1", "--shard", "0/2")
	first.waitFor(t, "shard taken")
	member.waitFor(t, "shard taken")
	shuffler.waitFor(t, "msg=serving")
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if status, text := page(t, monitor+"/readyz"); status == http.StatusOK {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%d %q with brokers", status, text)
		}
	}
}

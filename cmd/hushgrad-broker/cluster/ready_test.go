package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/server/journal"
)

// A member is ready while the brokers take what it writes: a connection to a broker is not enough.
func TestAMemberIsReadyWhileTheBrokersTakeItsWrites(t *testing.T) {
	if !*long {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	p := startParty(t, 1)
	p.join(0, journal.NewMemory())
	until := func(want string) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			err := p.cluster.Ready()
			if err == nil && want == "" || err != nil && want != "" && strings.Contains(err.Error(), want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("got %v, want %q", err, want)
			}
		}
	}
	time.Sleep(6 * time.Second) // longer than what is held against the brokers
	until("")
	js, err := jetstream.New(p.nats())
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteKeyValue(t.Context(), "hushgrad"); err != nil { // the leases cannot be written any more
		t.Fatal(err)
	}
	until("took no write")
	p.broker.Close()
	until("no connection")
}

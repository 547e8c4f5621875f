package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestServeRefusesFlagsOfAClusterThatIsNone(t *testing.T) {
	base := []string{"--shuffler-listen", "127.0.0.1:0"}
	local := append(base[:2:2], "--nats", "nats://127.0.0.1:1")
	remote := append(base[:2:2], "--nats", "nats://127.0.0.1:1", "--shard", "0/2")
	for _, good := range [][]string{append(local[:4:4], "--shard", "*/1"), remote} {
		if err := parse("serve", &serveFlags{}, good...); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	if err := parse("serve", &serveFlags{}, append(base[:2:2], "--nats", "embedded", "--shard", "0/2")...); err == nil || !strings.Contains(err.Error(), "hushgrad-broker --data DIR") {
		t.Errorf("a broker inside: %v", err)
	}
	for _, c := range []struct {
		param string
		args  []string
	}{
		{"--shard", []string{"--shard", "0/2"}},
		{"--nats-creds", []string{"--nats-creds", "f"}},
		{"--shuffler-listen", []string{"--nats", "nats://127.0.0.1:1", "--shard", "0/2"}},
		{"--shard", local},
		{"--shard", append(local[:4:4], "--shard", "2/2")},
		{"--shard", append(local[:4:4], "--shard", "2")},
		{"--shard", append(local[:4:4], "--shard", "a/2")},
		{"--shard", append(local[:4:4], "--shard", "*/0")},
		{"--nats", append(base[:2:2], "--shard", "0/2", "--nats", "nats://192.0.2.1:4222")},
		{"--nats", append(base[:2:2], "--shard", "0/2", "--nats", "nats://127.0.0.1:1,nats://broker.example:4222")},
		{"--nats", append(base[:2:2], "--shard", "0/2", "--nats", "127.0.0.1:4222")},
		{"--nats-tls-cert", append(remote[:6:6], "--nats-tls-cert", "c", "--nats-tls-key", "k")},
		{"--nats-tls-cert and --nats-tls-key", append(remote[:6:6], "--nats-tls-cert", "c")},
	} {
		var p *fl.ParamError
		if err := parse("serve", &serveFlags{}, c.args...); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%v: %v, want an error for %s", c.args, err, c.param)
		}
	}
}

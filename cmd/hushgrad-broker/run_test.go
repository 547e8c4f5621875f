package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hushgrad/hushgrad/internal/command"
)

// The command serves until it is interrupted, and its log says where.
func TestTheCommandServes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	log, written := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--data", t.TempDir(), "--listen", "127.0.0.1:0"}, command.Streams{Out: io.Discard, Err: written})
		_ = written.Close()
	}()
	line := make([]byte, 1<<10)
	n, err := log.Read(line)
	url := regexp.MustCompile(`msg=serving url=(\S+)`).FindSubmatch(line[:n])
	if err != nil || url == nil {
		t.Fatalf("the log says %q, %v", line[:n], err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	nc, err := nats.Connect(string(url[1]))
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTheCommandRefusesWrongCalls(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop() // a broker that starts ends at once
	for want, args := range map[string][]string{
		"--data: got \"\"":         nil,
		"must be a loopback":       {"--data", t.TempDir(), "--listen", "0.0.0.0:4222"},
		"got \"4222\"":             {"--data", t.TempDir(), "--listen", "4222"},
		"no such file":             {"--config", "absent.conf"},
		"only flags":               {"--data", t.TempDir(), "more"},
		"must be a loopback addre": {"--data", t.TempDir(), "--config", "absent.conf", "--listen", ":4222"},
	} {
		var out bytes.Buffer
		if err := run(ctx, args, command.Streams{Out: &out, Err: &out}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

const healthUsage = `Usage: hushgrad health [flags]

Asks hushgrad serve, shuffle or issue on this machine whether it is ready, at its
-metrics-listen. Prints what it says, and fails unless it is ready: for containers and
scripts.

`

// errNotReady is returned for a server that is not ready.
var errNotReady = errors.New("the server is not ready")

// health asks a monitor.
func health(ctx context.Context, args []string, std command.Streams) error {
	f := newFlags("health", healthUsage, std.Err)
	address := f.String("server", "127.0.0.1:7121", "loopback `address` of its -metrics-listen")
	timeout := f.Duration("timeout", 5*time.Second, "how long to wait for an answer")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	switch {
	case !loopback(*address):
		return fl.Invalid("-server", *address, "must be a loopback address")
	case *timeout <= 0:
		return fl.Invalid("-timeout", *timeout, "must be > 0")
	}
	bounded, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(bounded, http.MethodGet, "http://"+*address+"/readyz", nil)
	if err != nil {
		return fl.Invalid("-server", *address, "must be an address: %v", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %q", errNotReady, strings.TrimSpace(string(text)))
	}
	_, err = fmt.Fprint(std.Out, string(text))
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// errNotReady is returned for a server that is not ready.
var errNotReady = errors.New("the server is not ready")

// healthFlags are the flags of health.
type healthFlags struct {
	remote  remote
	name    string
	alive   bool
	timeout time.Duration
	output  output
}

func newHealth() *cobra.Command {
	h := &healthFlags{remote: remote{server: "127.0.0.1:7121"}}
	c := newCommand("health [flags]", "ask a service on this machine whether it is ready", `Asks hushgrad serve, shuffle, issue or relay on this machine whether it is ready, at its
--metrics-listen. Prints what it says, and fails unless it is ready: for containers and
scripts. With --metrics-ca the service asks for a certificate: give --tls-ca, --tls-cert and
--tls-key.`, func(ctx context.Context, _ []string, std command.Streams) error { return h.ask(ctx, std.Out) })
	h.remote.bind(c.Flags(), "its --metrics-listen on this machine")
	c.Flags().StringVar(&h.name, "tls-name", "", "`name` in the service's certificate, with --tls-ca; empty: the host of --server")
	c.Flags().BoolVar(&h.alive, "alive", false, "ask only whether it answers: a full disk or an old certificate is no reason to start it again")
	c.Flags().DurationVar(&h.timeout, "timeout", 5*time.Second, "how long to wait for an answer")
	h.output.bind(c.Flags())
	return c
}

// stranger is the error for an address where something else listens.
func (h *healthFlags) stranger() error {
	return fmt.Errorf("%w: --server: got %q, rule: must be what hushgrad has for --metrics-listen, and another program or listener answers there", errNotReady, h.remote.server)
}

// ask asks a monitor.
func (h *healthFlags) ask(ctx context.Context, w io.Writer) error {
	if err := h.remote.validate(); err != nil {
		return err
	}
	switch address := h.remote.server; {
	case address == "" || !loopback(address):
		return fl.Invalid("--server", address, "must be a loopback address")
	case h.name != "" && h.remote.ca == "":
		return fl.Invalid("--tls-name", h.name, "needs --tls-ca")
	case h.timeout <= 0:
		return fl.Invalid("--timeout", h.timeout, "must be > 0")
	}
	bounded, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	page, is := "/readyz", "ready"
	if h.alive {
		page, is = "/healthz", "alive"
	}
	scheme, client := "http://", http.DefaultClient
	if h.remote.ca != "" {
		config, err := h.remote.tls()
		if err != nil {
			return err
		}
		config.ServerName = h.name
		scheme, client = "https://", &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		defer client.CloseIdleConnections()
	}
	req, err := http.NewRequestWithContext(bounded, http.MethodGet, scheme+h.remote.server+page, nil)
	if err != nil {
		return fl.Invalid("--server", h.remote.server, "must be an address: %v", err)
	}
	resp, err := client.Do(req)
	// A listener for gRPC answers in HTTP/2, or ends a connection without TLS. net/http has many errors for that.
	var dial *net.OpError
	if reached := !errors.As(err, &dial) || dial.Op != "dial"; err != nil && reached && h.remote.ca == "" && bounded.Err() == nil {
		return h.stranger()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	if resp.StatusCode == http.StatusNotFound {
		return h.stranger()
	}
	if resp.StatusCode == http.StatusBadRequest && h.remote.ca == "" {
		return fmt.Errorf("%w: --server: got %q, rule: must answer without TLS, and answers %q: type --tls-ca, --tls-cert and --tls-key", errNotReady, h.remote.server, strings.TrimSpace(string(text)))
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %q", errNotReady, strings.TrimSpace(string(text)))
	}
	return h.output.printf(w, map[string]bool{is: true}, "%s", text)
}

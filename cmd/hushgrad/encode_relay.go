package main

import (
	"errors"
	"io"

	flag "github.com/spf13/pflag"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

// relayed are the flags of a client that reaches a party through a relay: --relay and --relay-key, or with a prefix.
type relayed struct {
	url, key string
	prefix   string
	party    string        // the flag of the party without a relay
	flags    *flag.FlagSet // of the command
}

func (r *relayed) bind(f *flag.FlagSet, prefix, party, use string) {
	r.prefix, r.party, r.flags = prefix, party, f
	f.StringVar(&r.url, prefix+"relay", "", "`URL` of a relay, such as https://relay.example:7129: "+use)
	f.StringVar(&r.key, prefix+"relay-key", "", "with --"+prefix+"relay: `key` configuration of the gateway behind it, which hushgrad relay key has printed: the same for all clients")
}

// validate checks the flags. of are the flags of the party without a relay.
func (r *relayed) validate(of remote) error {
	name := "--" + r.prefix + "relay"
	if r.url == "" {
		return notGiven("needs "+name, textFlag{name + "-key", r.key})
	}
	if of.server+of.ca+of.cert+of.key != "" {
		return fl.Invalid(name, r.url, "must not be given with --%s or its flags of TLS: what goes past the relay shows the client's address", r.party)
	}
	conn, err := r.connect("")
	if err != nil {
		return err
	}
	return conn.Close()
}

// connect returns a connection, which is not tried before its first use.
func (r *relayed) connect(secret client.Bearer) (*client.Relayed, error) {
	conn, err := client.NewRelayed(client.Relay{URL: r.url, GatewayKey: r.key, Bearer: secret})
	return conn, command.OfFlag(r.flags, err, map[string]string{"URL": r.prefix + "relay", "GatewayKey": r.prefix + "relay-key"})
}

// peer is a connection to a party.
type peer interface {
	grpc.ClientConnInterface
	io.Closer
}

// dialServer returns the connection to the server or its shuffler.
func (e *encodeFlags) dialServer() (peer, error) {
	if e.relay.url != "" {
		return e.relay.connect("")
	}
	return e.remote.dial()
}

// dialIssuer returns the connection to the issuer, with what that party knows the client by.
func (e *encodeFlags) dialIssuer() (peer, error) {
	var options []grpc.DialOption
	secret, err := e.secret()
	switch {
	case err != nil:
		return nil, err
	case e.issuerRelay.url != "":
		return e.issuerRelay.connect(secret)
	case secret != "":
		options = append(options, grpc.WithPerRPCCredentials(secret))
	}
	return e.issuer.dial(options...)
}

// remotely says whether reports go to a server.
func (e *encodeFlags) remotely() bool { return e.remote.server != "" || e.relay.url != "" }

// asks says whether an issuer is asked for tokens.
func (e *encodeFlags) asks() bool { return e.issuer.server != "" || e.issuerRelay.url != "" }

// direct refuses a report through a relay with tokens past it, and the other way round: the time of a call says who it is.
func (e *encodeFlags) direct() error {
	if e.relay.url != "" && e.issuer.server != "" {
		return fl.Invalid("--issuer", e.issuer.server, "must not be given with --relay: give --issuer-relay, or the issuer sees the client's address")
	}
	return errors.Join(e.relay.validate(e.remote), e.issuerRelay.validate(e.issuer))
}

package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/server/relay"
)

const relayHelp = `Runs a relay of Oblivious HTTP (RFC 9458) until it is interrupted: it hides the addresses of
clients from one shuffler, issuer or server, whose --ohttp-key makes it a gateway. The relay sees
who sends something and when, and cannot read it. The gateway sees the relay. Whoever runs both
sees both. So run it apart from the gateway.
`

// relayFlags are the flags of the relay command.
type relayFlags struct {
	listen     string
	listening  listening
	logging    logging
	monitoring monitoring
	config     relay.Config
	flags      *flag.FlagSet // of the command
}

// newRelay returns the command that runs a relay, with the command that makes the key of its gateway.
func newRelay() *cobra.Command {
	c := newJob("relay --gateway URL [flags]", "carry sealed requests: hide who sends them from a gateway", relayHelp, &relayFlags{})
	c.AddCommand(newRelayKey())
	return c
}

func (r *relayFlags) bind(f *flag.FlagSet) {
	r.flags = f
	f.StringVar(&r.config.Gateway, "gateway", "", "`URL` of the only gateway to which requests go: --http of a shuffler, an issuer or a server with --ohttp-key, such as https://shuffler.example:7125")
	f.StringVar(&r.listen, "listen", "127.0.0.1:7129", "`address` for clients")
	r.logging.bind(f)
	command.Topic(f, "TLS", func(f *flag.FlagSet) {
		r.listening.bind(f)
		f.BoolVar(&r.listening.insecure, "insecure", false, "answer clients without TLS on addresses that other machines reach: whoever is on the way sees who sends something, sealed")
	})
	command.Topic(f, "Watching", r.monitoring.bind)
	command.Topic(f, "Limits", func(f *flag.FlagSet) {
		f.IntVar(&r.config.MaxMessageBytes, "max-message-bytes", 8<<20, "largest request and response, at least 8192: twice --max-message-bytes of the gateway")
		f.Int64Var(&r.config.MaxInFlightBytes, "max-in-flight-bytes", 256<<20, "memory for messages on their way; at least 4 times --max-message-bytes")
		f.IntVar(&r.config.MaxConnections, "max-connections", 1024, "connections at the same time; one more closes an old one")
		f.IntVar(&r.config.MaxPerSecond, "max-per-second", 1000, "requests of all clients in a second")
		f.DurationVar(&r.config.Timeout, "timeout", 30*time.Second, "how long a client may take to send, the gateway to answer, and the client to take the answer")
		f.DurationVar(&r.config.ShutdownTimeout, "shutdown-timeout", 2*time.Second, "how long to wait for requests in progress")
	})
}

func (r *relayFlags) validate(*flag.FlagSet) error {
	c := r.config
	if err := positive(limit{"--max-message-bytes", int64(c.MaxMessageBytes)}, limit{"--max-in-flight-bytes", c.MaxInFlightBytes},
		limit{"--max-connections", int64(c.MaxConnections)}, limit{"--max-per-second", int64(c.MaxPerSecond)},
		limit{"--timeout", int64(c.Timeout)}, limit{"--shutdown-timeout", int64(c.ShutdownTimeout)}); err != nil {
		return err
	}
	if _, err := relay.New(c); err != nil {
		return command.OfFlag(r.flags, err, nil)
	}
	return cmp.Or(r.listening.validate("--listen", r.listen), r.monitoring.validate(r.listening))
}

func (r *relayFlags) run(ctx context.Context, std command.Streams) error {
	logger := r.logging.logger(std.Err)
	limitMemory(logger)
	own, err := r.listening.certificate(logger)
	if err != nil {
		return err
	}
	if own != nil {
		r.config.Security = own.Config()
	}
	traces, err := newTracing(ctx, "relay", logger)
	if err != nil {
		return err
	}
	defer traces.stop(logger)
	figures := r.monitoring.registry()
	r.config.Logger, r.config.Metrics, r.config.Carried = logger, figures, traces.carried()
	carrier, err := relay.New(r.config)
	if err != nil {
		return err
	}
	monitor, err := r.monitoring.listen(figures, func() error { return own.CheckValid(time.Now()) }, own, logger)
	if err != nil {
		return err
	}
	defer monitor.close()
	l, err := listenAt("--listen", r.listen)
	if err != nil {
		return err
	}
	go monitor.serve()
	logger.Info("this relay sees who sends something to the gateway and when, and cannot read it. The gateway does not see who it is, if the two do not work together")
	return carrier.Serve(ctx, l)
}

// relayKeyFlags are the flags of relay key.
type relayKeyFlags struct {
	out    string
	output output
}

func newRelayKey() *cobra.Command {
	return newJob("key --out FILE [flags]", "make the key of a gateway", `Makes the key with which a shuffler, an issuer or a server opens what a relay carries, for its
--ohttp-key. The private key is in the file. Prints the key configuration, for --relay-key of the
clients. Give all clients the same one, where everybody can see it: a gateway that gives a client a key of
its own knows what this client sends.`, &relayKeyFlags{})
}

func (k *relayKeyFlags) bind(f *flag.FlagSet) {
	f.StringVar(&k.out, "out", "", "`file` for the private key, which must be new")
	k.output.bind(f)
}

func (k *relayKeyFlags) validate(*flag.FlagSet) error {
	if k.out == "" {
		return fl.Invalid("--out", "", "is required: a file for the private key")
	}
	return command.Place("--out", k.out)
}

func (k *relayKeyFlags) run(_ context.Context, std command.Streams) error {
	key, err := ohttp.NewKey()
	if err != nil {
		return err
	}
	private, err := key.Text()
	if err != nil {
		return err
	}
	if err := keepKey(k.out, private, "clients may have the key that is there"); err != nil {
		return err
	}
	made := struct {
		KeyConfig string `json:"key_config"`
		File      string `json:"file"`
	}{key.Config().Text(), k.out}
	return k.output.printf(std.Out, made, "%s\n", made.KeyConfig)
}

package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
	"github.com/hushgrad/hushgrad/server"
)

const issueHelp = `Runs the issuer until it is interrupted: the party that knows who may take part, and gives
each client one token for each round. It sees who asks, and no report. The server sees
tokens, and not whose they are. So run it apart from hushgrad serve.
`

// issueFlags are the flags of the issue command.
type issueFlags struct {
	operated
	http              httpFlags
	clientCA, bearers string
	config            server.IssuerConfig
}

// newIssue returns the command that runs the issuer, with the commands about its keys.
func newIssue() *cobra.Command {
	c := newJob("issue [flags]", "admit clients to rounds: give each one token", issueHelp, &issueFlags{})
	c.AddCommand(newIssueKey(), newIssueKeys(), newIssueDrop(), newIssueBearer())
	return c
}

func (s *issueFlags) bind(f *flag.FlagSet) {
	s.operated.bind(f, "issue", 7119, 7120)
	f.IntVar(&s.config.MaxKeys, "max-keys", 64, "keys at the same time, one for each round")
	command.Topic(f, "HTTP", s.http.bind)
	command.Topic(f, "Who is a client", func(f *flag.FlagSet) {
		f.StringVar(&s.clientCA, "client-ca", "", "PEM `file` with authorities: a client is the subject of a certificate from one of them; reread when it changes")
		f.StringVar(&s.bearers, "bearer-file", "", "`file` with clients and the SHA-256 of their secrets, see hushgrad issue bearer; reread when it changes")
	})
}

func (s *issueFlags) validate(*flag.FlagSet) error {
	switch {
	case s.config.MaxKeys <= 0:
		return fl.Invalid("--max-keys", s.config.MaxKeys, "must be > 0")
	case s.clientCA == "" && s.bearers == "":
		return fl.Invalid("--client-ca or --bearer-file", "", "is required: it says who is a client")
	case s.clientCA != "" && s.bearers != "":
		return fl.Invalid("--client-ca and --bearer-file", s.clientCA+" and "+s.bearers, "must be one of the two: it says who is a client")
	case s.listening.cert == "":
		return fl.Invalid("--tls-cert", "", "is required: without TLS the issuer cannot distinguish clients")
	case s.clientCA != "" && len(s.http.origins) > 0:
		return fl.Invalid("--http-origin", s.http.origins.String(), "needs --bearer-file: a browser asks without a certificate whether a page may call")
	}
	if s.clientCA != "" && len(s.http.keys) > 0 {
		return fl.Invalid("--ohttp-key", s.http.keys.String(), "needs --bearer-file: a relay has no certificates of clients")
	}
	return cmp.Or(s.http.validate(s.listening), s.operated.validate())
}

func (s *issueFlags) run(ctx context.Context, std command.Streams) (err error) {
	s.config.Logger = s.logging.logger(std.Err)
	limitMemory(s.config.Logger)
	own, err := s.listening.certificate(s.config.Logger)
	if err != nil {
		return err
	}
	if err := s.secure(own); err != nil {
		return err
	}
	s.config.Ready = func() error { return own.CheckValid(time.Now()) }
	traces, err := newTracing(ctx, "issue", s.config.Logger)
	if err != nil {
		return err
	}
	defer traces.stop(s.config.Logger)
	s.config.StatsHandler = traces.handler()
	figures := s.monitoring.registry()
	s.config.Metrics = figures
	kept, err := s.state.open(s.config.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	s.config.Journal = kept
	i, err := server.NewIssuer(s.config)
	if err != nil {
		return s.ofFlag(err)
	}
	defer i.Close()
	monitor, err := s.monitoring.listen(figures, i.Ready, own, s.config.Logger)
	if err != nil {
		return err
	}
	defer monitor.close()
	var l server.IssuerListeners
	if err := s.open(&l.Clients, &l.Operator, wanted{&l.HTTP, "--http", s.http.address}); err != nil {
		return err
	}
	go monitor.serve()
	s.config.Logger.Info("this issuer sees which client asks for a token, and for what round. It sees no report. It could make tokens for anybody")
	return i.Serve(ctx, l)
}

// secure fills in who is a client and the transport security of the listeners. Clients are known over
// HTTP by what they are known by over gRPC.
func (s *issueFlags) secure(own *tlsfile.Certificate) error {
	security := own.Config()
	if s.clientCA != "" {
		authorities, err := tlsfile.LoadAuthorities(s.clientCA, s.config.Logger)
		if err != nil {
			return fmt.Errorf("--client-ca: %w", err)
		}
		security = own.MutualConfig(authorities, func(*x509.Certificate) error { return nil })
		s.config.Admit = server.AdmitCertificates
	}
	s.config.Credentials, s.config.HTTPSecurity, s.config.HTTPOrigins = credentials.NewTLS(security), security, s.http.origins
	var err error
	if s.config.OHTTPKeys, err = s.http.gatewayKeys(); err != nil {
		return err
	}
	if s.config.OperatorCredentials, err = s.operators.credentials(own, s.config.Logger); err != nil {
		return err
	}
	if s.bearers != "" {
		if s.config.Admit, err = server.AdmitBearers(s.bearers, s.config.Logger); err != nil {
			return fmt.Errorf("--bearer-file: %w", err)
		}
	}
	return nil
}

// newIssueBearer returns the command that draws a secret and prints it with its line of the file.
func newIssueBearer() *cobra.Command {
	var form output
	c := newCommand("bearer [flags] NAME", "draw a secret for a client", `Draws a secret for a client. The first line is the secret: give it to the client, who keeps
it in a file for hushgrad encode --bearer-file. The second is for the issuer's --bearer-file
and does not let its reader in. A name with two lines is one client.`, func(_ context.Context, args []string, std command.Streams) error {
		secret, line, err := server.NewBearer(args[0])
		if err != nil {
			return err
		}
		made := map[string]string{"name": args[0], "secret": secret, "line": line}
		return form.printf(std.Out, made, "%s\n%s\n", secret, line)
	})
	form.bind(c.Flags())
	c.Args = oneArgument("name")
	return c
}

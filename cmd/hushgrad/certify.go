package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/authority"
	"github.com/hushgrad/hushgrad/internal/command"
)

const certifyHelp = `Makes what the parties of a deployment need to know each other: an authority, certificates
and private keys of the server, the shuffler, the issuer and their operator, and a secret
for each client. Called again it renews the certificates, without a restart of any role. It
never changes the authority or a secret. It adds secrets for clients that are new.

  hushgrad certify --name fl.example.org --clients alice,bob /etc/hushgrad

Each directory in DIR is for one party. It has the party's cert.pem and key.pem, and ca.pem,
by which the party knows the others:

  serve, shuffle, issue
             for the roles. A role's account has to be in the group of its
             directory: type chgrp -R GROUP DIR/serve once. Renewed files keep
             the group
  issue/bearers
             the clients whom the issuer admits
  operator   for hushgrad round, aggregate, issue key and so on
  prometheus
             for a Prometheus on another machine, with --metrics-name prometheus
  clients/NAME
             ca.pem and secret, for hushgrad encode --bearer-file. Delete the
             directory here when the client has it
  authority  key.pem makes certificates for anybody. Keep it to yourself

A party's ca.pem is a copy of DIR/ca.pem. Append another authority to that file, and the
next call gives both to every party. Without --name and --shuffler the names stay as they
are.
`

// authorityDays are how long the authority is good.
const authorityDays = 3650

// The names by which the roles know each other, whatever machines they are on.
const (
	operatorName   = "operator"   // operator-name in the files of docs/deploy
	prometheusName = "prometheus" // for --metrics-name
	authorityName  = "hushgrad authority"
)

// certifyFlags are the flags of certify.
type certifyFlags struct {
	names, clients []string
	shuffler       string
	days           int
	output         output
}

func newCertify() *cobra.Command {
	m := &certifyFlags{}
	var f *flag.FlagSet
	c := newCommand("certify [flags] DIR", "make or renew certificates for all parties, and clients' secrets", certifyHelp, func(ctx context.Context, args []string, std command.Streams) error {
		if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
			return fl.Invalid("DIR", args[0], "must be a directory, or a free name for one")
		}
		err := m.keepNames(f, args[0])
		if err == nil {
			err = m.validate()
		}
		if err != nil {
			return err
		}
		made, err := m.write(ctx, args[0], time.Now())
		if err != nil {
			return err
		}
		return m.output.print(std.Out, made, made.text)
	})
	c.Args = oneArgument("directory")
	f = c.Flags()
	f.StringSliceVar(&m.names, "name", []string{"localhost", "127.0.0.1"}, "comma-separated DNS `names` and IP addresses by which others reach the server, the shuffler and the issuer")
	f.StringVar(&m.shuffler, "shuffler", "shuffler.example", "`name` of the shuffler in rounds")
	f.StringSliceVar(&m.clients, "clients", nil, "comma-separated `names` of clients whom the issuer admits")
	f.IntVar(&m.days, "days", 90, "days until the certificates end")
	m.output.bind(f)
	return c
}

var (
	// dnsName is a name that a certificate can have.
	dnsName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)
	// clientName is a name of a client that is the name of a directory, too.
	clientName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,199}$`)
)

func (m *certifyFlags) validate() error {
	if len(m.names) == 0 {
		return fl.Invalid("--name", "", "is required: the names by which others reach the roles")
	}
	for _, name := range m.names {
		if net.ParseIP(name) == nil && !dnsName.MatchString(name) {
			return fl.Invalid("--name", name, "must be DNS names and IP addresses between commas, without a port: localhost,127.0.0.1")
		}
	}
	if !dnsName.MatchString(m.shuffler) {
		return fl.Invalid("--shuffler", m.shuffler, "must be a DNS name: shuffler.example")
	}
	for _, name := range m.clients {
		if !clientName.MatchString(name) {
			return fl.Invalid("--clients", name, "must be names between commas, each of 1 to 200 letters, digits and . _ @ - that begins with a letter or a digit")
		}
	}
	if m.days < 1 || m.days > authorityDays {
		return fl.Invalid("--days", m.days, "must be in [1, %d]", authorityDays)
	}
	return nil
}

// certified is what the command has made, for programs.
type certified struct {
	Directory      string    `json:"directory"`
	New            bool      `json:"new_authority"`
	AuthorityUntil time.Time `json:"authority_until"`
	Until          time.Time `json:"until"`
	Names          []string  `json:"names"`
	NewClients     []string  `json:"new_clients"`
}

func (c certified) text(w io.Writer) error {
	state := "kept"
	if c.New {
		state = "new"
	}
	clients := "no new ones"
	if len(c.NewClients) > 0 {
		clients = strings.Join(c.NewClients, ", ") + ": give each its directory in " + filepath.Join(c.Directory, "clients")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "authority\t%s, until %s. Keep %s to yourself\n", state, c.AuthorityUntil.Format(time.DateOnly), keyOfAuthority(c.Directory))
	fmt.Fprintf(table, "certificates\tnew, until %s, of serve, shuffle and issue for %s, and of operator and prometheus\n", c.Until.Format(time.DateOnly), strings.Join(c.Names, ", "))
	fmt.Fprintf(table, "clients\t%s\n", clients)
	return table.Flush()
}

// Modes of what a party has. The account of a role reads through the group of the directory, which new files get, too.
const (
	roleDir, roleKey = 0o750 | os.ModeSetgid, 0o640
	ownDir, ownKey   = 0o700, 0o600
)

// party is a directory with a certificate.
type party struct {
	dir string
	authority.Party
	mode, keyMode os.FileMode // of the directory and of the private key
}

func (m *certifyFlags) parties() []party {
	return []party{
		{"serve", authority.Party{Name: "serve", Alternatives: m.names, Serves: true}, roleDir, roleKey},
		{"shuffle", authority.Party{Name: m.shuffler, Alternatives: append([]string{m.shuffler}, m.names...), Serves: true, Calls: true}, roleDir, roleKey},
		{"issue", authority.Party{Name: "issue", Alternatives: m.names, Serves: true}, roleDir, roleKey},
		{"operator", authority.Party{Name: operatorName, Alternatives: []string{operatorName}, Calls: true}, ownDir, ownKey},
		{"prometheus", authority.Party{Name: prometheusName, Alternatives: []string{prometheusName}, Calls: true}, ownDir, ownKey},
	}
}

// write makes or renews all files.
func (m *certifyFlags) write(ctx context.Context, dir string, now time.Time) (made certified, err error) {
	made = certified{Directory: dir, Names: m.names, Until: now.AddDate(0, 0, m.days).UTC().Truncate(time.Second)}
	if err := makeDir(dir, 0o755); err != nil {
		return made, fl.Invalid("DIR", dir, "must be a directory, or a free name in one: %v", err)
	}
	signer, trusted, isNew, err := openAuthority(ctx, dir, now)
	if err != nil {
		return made, err
	}
	made.New, made.AuthorityUntil = isNew, signer.Certificate.NotAfter
	if made.Until.After(made.AuthorityUntil) {
		left := int(made.AuthorityUntil.Sub(now).Hours() / 24)
		return made, fl.Invalid("--days", m.days, "must be at most %d, because the authority ends at %s. docs/deploy.md says how to replace it", left, made.AuthorityUntil.Format(time.DateOnly))
	}
	for _, p := range m.parties() { // before anything is renewed
		if err := makeDir(filepath.Join(dir, p.dir), p.mode); err != nil {
			return made, err
		}
	}
	for _, p := range m.parties() {
		if err := p.write(ctx, dir, trusted, signer, made.Until); err != nil {
			return made, err
		}
	}
	made.NewClients, err = m.admit(ctx, dir, trusted)
	return made, err
}

// write makes or renews the files of a party. The private key comes first: a server that looks in between keeps the
// old certificate.
func (p party) write(ctx context.Context, dir string, trusted []byte, signer *authority.Authority, until time.Time) error {
	certificate, key, err := signer.Sign(p.Party, until)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		mode os.FileMode
		text []byte
	}{{"ca.pem", 0o644, trusted}, {"key.pem", p.keyMode, key}, {"cert.pem", 0o644, certificate}} {
		if err == nil {
			err = command.ReplaceMode(ctx, filepath.Join(dir, p.dir, f.name), f.mode, f.text)
		}
	}
	return err
}

package main

import (
	"crypto/tls"
	"net"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/origin"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// httpFlags are the flags of commands that answer clients over HTTP, too.
type httpFlags struct {
	address string
	origins repeatedFlag
	keys    repeatedFlag
}

func (h *httpFlags) bind(f *flag.FlagSet) {
	f.StringVar(&h.address, "http", "", "`address` where clients are answered over HTTP, too: JSON, Connect and gRPC-Web, for curl and browsers, such as 127.0.0.1:7125; \"\" is none")
	f.Var(&h.origins, "http-origin", "`origin` whose pages may call over HTTP from a browser, such as https://example.org; may be repeated")
	f.Var(&h.keys, "ohttp-key", "with --http: `file` with a private key, which hushgrad relay key makes: answer what a relay carries, too (RFC 9458); may be repeated, the first one is preferred")
}

func (h *httpFlags) validate(l listening) error {
	if h.address == "" {
		if len(h.origins) > 0 {
			return fl.Invalid("--http-origin", h.origins.String(), "needs --http")
		}
		if len(h.keys) > 0 {
			return fl.Invalid("--ohttp-key", h.keys.String(), "needs --http")
		}
		return nil
	}
	for _, page := range h.origins {
		if err := origin.Check("--http-origin", page); err != nil {
			return err
		}
	}
	return l.validate("--http", h.address)
}

// gatewayKeys reads the private keys of a gateway.
func (h *httpFlags) gatewayKeys() (keys []string, err error) {
	for _, file := range h.keys {
		key, err := readSmall("--ohttp-key", file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, string(key))
	}
	_, err = ohttp.ParseKeys("--ohttp-key", keys)
	return keys, err
}

// listen opens the listener, nil for none.
func (h *httpFlags) listen() (net.Listener, error) {
	if h.address == "" {
		return nil, nil
	}
	return listenAt("--http", h.address)
}

// security is the transport security of the listener, nil for none.
func (h *httpFlags) security(own *tlsfile.Certificate) *tls.Config {
	if own == nil {
		return nil
	}
	return own.Config()
}

// repeatedFlag collects the values of a flag that may be repeated.
type repeatedFlag []string

func (o *repeatedFlag) String() string { return strings.Join(*o, ",") }

// IsListFlag says that it may be repeated.
func (o *repeatedFlag) IsListFlag() bool { return true }

// Set implements flag.Value.
func (o *repeatedFlag) Set(text string) error {
	*o = append(*o, text)
	return nil
}

// Type implements flag.Value.
func (o *repeatedFlag) Type() string { return "text" }

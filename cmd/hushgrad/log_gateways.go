package main

import (
	"context"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/internal/translog/site"
)

// loggedKey is a key configuration that has to be in a log.
type loggedKey struct {
	written string
	digest  translog.Digest
	entry   int64 // -1 while it is not found
}

// loggedKeys reads the key configurations of a flag.
func loggedKeys(name string, written []string) ([]*loggedKey, error) {
	var all []*loggedKey
	for _, one := range written {
		c, err := ohttp.ParseConfig(name, one)
		if err != nil {
			return nil, err
		}
		all = append(all, &loggedKey{one, gatewayDigest(c), -1})
	}
	return all, nil
}

// gatewayDigest is the digest of a key configuration in a log.
func gatewayDigest(c ohttp.Config) translog.Digest {
	return translog.GatewayEntry(c.Bytes(), time.Time{}).SHA256
}

// compare looks whether an entry is about this key.
func (g *loggedKey) compare(e translog.Logged) {
	if e.Kind == translog.Key && e.SHA256 == g.digest {
		g.entry = e.Index
	}
}

// check returns an error unless the log has the key.
func (g *loggedKey) check() error {
	if g.entry >= 0 {
		return nil
	}
	return fl.Invalid("--gateway-key", g.written, "must be in the log, which has no key with this SHA-256, %s: whoever gave it to you gives others another one, or the server's --log-gateway lacks it", g.digest)
}

// publishedBy asks a gateway for the encoded list of its key configurations.
func publishedBy(ctx context.Context, gateway string) ([]byte, error) {
	return site.Fetch(ctx, "--gateway", gateway, strings.TrimPrefix(ohttp.GatewayPath, "/"), ohttp.MaxEncoded)
}

package client

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// ErrUnlogged is wrapped by errors about a round without a valid proof that it is in the server's log.
var ErrUnlogged = translog.ErrUnlogged

// logKeys are whom a client believes about the log of a server, nil for a client that asks for no log.
func (o Options) logKeys() (*translog.Keys, error) {
	if o.LogKey == "" {
		if len(o.Witnesses) > 0 {
			return nil, fl.Invalid("Witnesses", len(o.Witnesses), "needs a LogKey")
		}
		return nil, nil
	}
	keys, err := translog.NewKeys("LogKey", o.LogKey, "Witnesses", o.Witnesses)
	return &keys, err
}

// checkLogged refuses a round that is not proved to be in the log.
func (c *Client) checkLogged(r fl.Round, proof []byte) error {
	if c.log == nil {
		return nil
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	_, err = c.log.Check(proof, digest)
	return err
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

// validate checks the flags that -server needs or excludes.
func (e *encodeFlags) validate() error {
	switch {
	case e.remote.server == "" && e.maxEpsilon != 0:
		return fl.Invalid("-max-epsilon", e.maxEpsilon, "needs -server")
	case e.remote.server != "" && !(e.maxEpsilon > 0):
		return fl.Invalid("-max-epsilon", e.maxEpsilon, "must be > 0 with -server: the largest ε of a report that is acceptable")
	case e.remote.server != "" && e.out != "":
		return fl.Invalid("-out", e.out, "must be empty with -server")
	}
	return e.remote.validate()
}

// submit encodes for a round of a server and sends the reports there.
func (e *encodeFlags) submit(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	conn, err := e.remote.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: e.maxEpsilon}})
	if err != nil {
		return err
	}
	part, err := c.Join(ctx, e.round)
	if err != nil {
		return err
	}
	reports, err := e.reports(ctx, part.Round(), part.Mechanism(), stdin, stderr)
	if err != nil {
		return err
	}
	receipt, err := part.Submit(ctx, reports)
	if err != nil {
		return err
	}
	// Duplicates are those that an interrupted attempt had already got counted.
	_, err = fmt.Fprintf(stdout, "%d reports under %v: counted in round %s\n", receipt.Accepted+receipt.Duplicates, part.Guarantee(), part.Round().ID)
	return err
}

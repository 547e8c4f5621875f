package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// between is the time between two attempts to reach a server that is away.
const between = time.Second

// patience is for calls that may be repeated, to a server that may be away: it is restarted, or another member of
// its cluster is to lead.
type patience struct {
	notes    io.Writer
	answered bool // the server has, at least once
}

// call calls the server until it answers. A server that has never answered is likely another one, and its
// error is returned.
func (p *patience) call(ctx context.Context, do func() error) error {
	for noted := false; ; {
		err := do()
		if ctx.Err() != nil {
			return ctx.Err() // whatever was under way when it ended
		}
		if status.Code(err) != codes.Unavailable {
			p.answered = p.answered || err == nil
			return err
		}
		if !p.answered {
			return err
		}
		if !noted {
			fmt.Fprintf(p.notes, "note: no answer, trying again: %v\n", err)
			noted = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(between):
		}
	}
}

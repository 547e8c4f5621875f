package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/hushgrad/hushgrad/fl"
)

// watched is the value of -dashboard: where the page is that shows the run, or nowhere.
type watched struct{ address string }

func (w *watched) String() string { return w.address }

// Type implements flag.Value.
func (w *watched) Type() string { return "address" }

// Set takes true for a free port of this machine, false for no page, or an address.
func (w *watched) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		w.address = ""
		if on {
			w.address = "127.0.0.1:0"
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return errors.New("must be host:port, or nothing for a free port of this machine")
	}
	w.address = text
	return nil
}

// check finds out whether the page can be shown: a run of minutes should not end with the news that it cannot.
func (w watched) check() error {
	if w.address == "" {
		return nil
	}
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		return fl.Invalid("-dashboard", w.address, "must be an address of this machine that is free: %v", err)
	}
	return l.Close()
}

// stay keeps the page of a run that has ended until ctx ends, where a person sees that it waits: on a terminal.
func (w watched) stay(ctx context.Context, log io.Writer) {
	if file, ok := log.(*os.File); w.address == "" || !ok || !term.IsTerminal(int(file.Fd())) {
		return
	}
	fmt.Fprintln(log, "the run has ended: its page stays until you press Ctrl-C")
	<-ctx.Done()
}

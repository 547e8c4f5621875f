package main

import (
	"errors"
	"net"
	"strconv"
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

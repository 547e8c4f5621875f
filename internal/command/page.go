package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	flag "github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/hushgrad/hushgrad/fl"
)

// Page is the value of a flag for a page in the browser: its address, or nowhere. Bind makes the flag.
type Page struct {
	Address string // empty for no page
	name    string // of the flag
}

// Bind adds the flag to a set. Its value is an address host:port. The flag alone stands for a free port of this
// machine.
func (p *Page) Bind(f *flag.FlagSet, name, usage string) {
	p.name = name
	f.VarPF(p, name, "", usage).NoOptDefVal = "true"
}

func (p *Page) String() string { return p.Address }

// Type implements flag.Value.
func (p *Page) Type() string { return "address" }

// Set takes true for a free port of this machine, false for no page, or an address.
func (p *Page) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		p.Address = ""
		if on {
			p.Address = "127.0.0.1:0"
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return errors.New("must be host:port, or nothing for a free port of this machine")
	}
	p.Address = text
	return nil
}

// Check finds out whether the page can be shown: a run of minutes should not end with the news that it cannot.
func (p *Page) Check() error {
	if p.Address == "" {
		return nil
	}
	l, err := net.Listen("tcp", p.Address)
	if err != nil {
		return fl.Invalid("--"+p.name, p.Address, "must be an address of this machine that is free: %v", err)
	}
	return l.Close()
}

// Stay keeps the page of a run that has ended until ctx ends, where a person sees that it waits: on a terminal.
func (p *Page) Stay(ctx context.Context, log io.Writer) {
	if p.Address == "" || !IsTerminal(log) {
		return
	}
	fmt.Fprintln(log, "the run has ended: its page stays until you press Ctrl-C")
	<-ctx.Done()
}

// IsTerminal reports whether somebody sees what is written as it comes.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

package command

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// at is a page's flag that was given an address, or none.
func at(address string) *Page {
	p := new(Page)
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	p.Bind(f, "page", "show a page")
	if address != "" {
		if err := f.Parse([]string{"--page=" + address}); err != nil {
			panic(err)
		}
	}
	return p
}

// An address that is taken, or that no machine has, is found out before the run is planned.
func TestThePlaceOfThePageIsChecked(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, address := range []string{taken.Addr().String(), "127.0.0.1:80000"} {
		var p *fl.ParamError
		if err := at(address).Check(); !errors.As(err, &p) || p.Param != "--page" {
			t.Errorf("%s: %v, want an error about --page", address, err)
		}
	}
	if err := errors.Join(at("").Check(), at("127.0.0.1:0").Check()); err != nil {
		t.Error(err)
	}
}

// On a terminal the page of a run that has ended stays until an interrupt. In a script nothing waits.
func TestThePageStaysOnATerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal here")
	}
	defer terminal.Close()
	var log strings.Builder
	at("127.0.0.1:0").Stay(t.Context(), &log) // returns, and so do the next ones
	at("").Stay(t.Context(), terminal)
	ctx, interrupt := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { at("127.0.0.1:0").Stay(ctx, terminal); close(left) }()
	select {
	case <-left:
		t.Error("the page is gone before an interrupt")
	case <-time.After(200 * time.Millisecond):
	}
	interrupt()
	<-left
	if log.Len() > 0 {
		t.Errorf("a log that is no terminal has %q", log.String())
	}
}

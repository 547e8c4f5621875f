package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/dashboard"
	"github.com/hushgrad/hushgrad/trainer"
)

func TestTheDashboardFlagTakesAnAddressOrStandsAlone(t *testing.T) {
	for given, want := range map[string]string{
		"-dashboard": "127.0.0.1:0", "-dashboard=true": "127.0.0.1:0", "-dashboard=false": "", "-dashboard=127.0.0.1:80": "127.0.0.1:80", "-dashboard=:80": ":80", "-explain": "",
	} {
		if o, err := parse([]string{given}, io.Discard); err != nil || o.dashboard.address != want {
			t.Errorf("%s: %q, %v, want %q", given, o.dashboard.address, err, want)
		}
	}
	for param, args := range map[string][]string{"-dashboard": {"-dashboard=here"}, "-seed": {"-dashboard", "-roles", "3", "-seed", "1"}} {
		var p *fl.ParamError
		if _, err := parse(args, io.Discard); !errors.As(err, &p) || p.Param != param || strings.Count(err.Error(), "rule:") != 1 {
			t.Errorf("%v: %v, want a ParamError for %s with one rule", args, err, param)
		}
	}
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
		if err := (watched{address}).check(); !errors.As(err, &p) || p.Param != "-dashboard" {
			t.Errorf("%s: %v, want an error about -dashboard", address, err)
		}
	}
	if err := errors.Join(watched{}.check(), watched{"127.0.0.1:0"}.check()); err != nil {
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
	watched{"127.0.0.1:0"}.stay(t.Context(), &log) // returns, and so do the next ones
	watched{}.stay(t.Context(), terminal)
	ctx, interrupt := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { watched{"127.0.0.1:0"}.stay(ctx, terminal); close(left) }()
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

// kept is a log that several goroutines write to.
type kept struct {
	mu   sync.Mutex
	text strings.Builder
}

func (k *kept) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(b)
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

// shownBy asks for what the dashboard shows whose URL is in a log.
func shownBy(t *testing.T, log string) (s dashboard.State) {
	t.Helper()
	url := regexp.MustCompile(`dashboard\S*.*: (http://\S+)\n`).FindStringSubmatch(log)
	if url == nil {
		t.Fatalf("no URL in %q", log)
	}
	resp, err := http.Get(url[1] + "state.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// The page shows the rounds of the demo and what it has measured, with the standard error of a share. With a seed it
// says that nothing is promised.
func TestTheDashboardShowsTheRun(t *testing.T) {
	for seed, void := range map[string]bool{"7": true, "0": false} {
		var log kept
		f := runningWith(t, &log, "coco", "-dashboard", "-seed", seed)
		estimate, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.publish(t.Context(), trainer.Progress{Round: 0, Estimate: estimate}, 0.75, 1.5, 300); err != nil {
			t.Fatal(err)
		}
		s := shownBy(t, log.String())
		if r := s.Rounds; len(r) != 1 || r[0].ID != "mnist-001" || r[0].State != "closed" || r[0].Reports != 300 || r[0].Worth == nil {
			t.Errorf("rounds %+v", r)
		}
		want := fmt.Sprintf("[{noise norm [{1 %v 0}]} {test accuracy [{1 0.75 %v}]} {test loss [{1 1.5 0}]}]", estimate.NoiseNorm, math.Sqrt(0.75*0.25/300))
		if got := fmt.Sprint(s.Series); got != want {
			t.Errorf("series %s, want %s", got, want)
		}
		if (s.Void != "") != void || void && s.Rounds[0].Promise.Local != nil {
			t.Errorf("seed %s: %q, %+v", seed, s.Void, s.Rounds[0].Promise)
		}
	}
}

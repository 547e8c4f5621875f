package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

func TestTheDashboardFlagTakesAnAddressOrStandsAlone(t *testing.T) {
	for given, want := range map[string]string{
		"--dashboard": "127.0.0.1:0", "--dashboard=true": "127.0.0.1:0", "--dashboard=false": "", "--dashboard=127.0.0.1:80": "127.0.0.1:80", "--dashboard=:80": ":80", "--explain": "",
	} {
		if o, err := parse([]string{given}, io.Discard); err != nil || o.dashboard.Address != want {
			t.Errorf("%s: %q, %v, want %q", given, o.dashboard.Address, err, want)
		}
	}
	for param, args := range map[string][]string{"--dashboard": {"--dashboard=here"}, "--seed": {"--dashboard", "--roles", "3", "--seed", "1"}} {
		var p *fl.ParamError
		if _, err := parse(args, io.Discard); !errors.As(err, &p) || p.Param != param || strings.Count(err.Error(), "rule:") != 1 {
			t.Errorf("%v: %v, want a ParamError for %s with one rule", args, err, param)
		}
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

// state is the part of a dashboard's state that these tests look at.
type state struct {
	Void   string
	Rounds []struct {
		ID, State, Shuffler string
		Tokens              bool
		Reports             int64
		Worth               *struct{ Suspects int }
		Promise             struct {
			Local *struct{}
			Notes []string
		}
	}
	Series []struct {
		Name   string
		Points []struct {
			Round  int
			Value  float64
			StdErr float64 `json:"std_err"`
		}
	}
}

// shownBy asks for what the dashboard shows whose URL is in a log.
func shownBy(t *testing.T, log string) (s state) {
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
		f := runningWith(t, &log, "coco", "--dashboard", "--seed", seed)
		estimate, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		if err := parties.Publish(t.Context(), f, trainer.Progress{Estimate: estimate, Suspects: []int{4, 5}}, 0.75, 1.5, parties.Tested{Images: 300, Classes: 10, Before: 0.2}, &parties.Flags{Liars: &parties.Liars{}, PublicAlarm: !void}); err != nil {
			t.Fatal(err)
		}
		if err := parties.PublishWithoutPrivacy(t.Context(), f, 0.9); err != nil {
			t.Fatal(err)
		}
		s := shownBy(t, log.String())
		if r := s.Rounds; len(r) != 1 || r[0].ID != "mnist-001" || r[0].State != "closed" || r[0].Reports != 300 || r[0].Worth == nil {
			t.Errorf("rounds %+v", r)
		}
		unlike := "" // sorted by name
		if !void {
			unlike = "{coordinates unlike public pictures [{1 2 0}]} "
		}
		want := fmt.Sprintf("["+unlike+"{noise norm [{1 %v 0}]} {reports of a client [{1 1 0}]} {test accuracy [{1 0.75 %v}]} {test accuracy/before round 1 [{1 0.2 0}]} {test accuracy/chance [{1 0.1 0}]} {test accuracy/without privacy [{1 0.9 0}]} {test loss [{1 1.5 0}]}]", estimate.NoiseNorm, math.Sqrt(0.75*0.25/300))
		if got := fmt.Sprint(s.Series); got != want {
			t.Errorf("series %s, want %s", got, want)
		}
		if (s.Void != "") != void || void && s.Rounds[0].Promise.Local != nil {
			t.Errorf("seed %s: %q, %+v", seed, s.Void, s.Rounds[0].Promise)
		}
	}
}

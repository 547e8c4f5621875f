package main

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// long runs what takes a minute: attacks that fill memory, and a new project.
var long = flag.Bool("long", false, "run attacks until they have sent more than the memory they may use, a new project, the choice of features, 20 models of 512 MiB, and 100 rounds of 10^7 coordinates")

const (
	// attackPatience is what a good client waits for an answer. The server is to answer within a
	// second, which the log shows; time decides this test only when it is far off.
	attackPatience = 30 * time.Second
	attackTime     = 2 * time.Second
	attackMemory   = 512 << 20 // beside a model
	attackModel    = 8 << 20
	attackFiles    = 1024 + 100 // beside the connections that the server allows
)

// attack is a way to attack. It goes on until attackTime has passed and that many bytes were sent.
type attack struct {
	run   func(ctx context.Context, v victim)
	bytes int64
	waits bool // for the disk, most of the time
}

// attacks are what attackers do until ctx ends. The letters name the findings in the first
// version that they are against.
var attacks = map[string]attack{
	"A1 messages that unpack to millions of reports": {run: bombs},
	"A1 parts of the largest messages":               {run: cutMessages, bytes: 3 * attackMemory / 2},
	"A1 messages in frames of one byte":              {run: crumbs},
	"A3 readers of models that do not read":          {run: unreadModels, bytes: 3 * attackMemory / 2},
	"A5 batches with new keys":                       {run: newKeys, bytes: 200 << 20, waits: true},
	"A8 five thousand slow connections":              {run: slowConnections},
	"A8 headers that grow":                           {run: headerBombs},
	"A8 floods of small frames":                      {run: frameFloods},
	"A8 calls that are reset":                        {run: resets},
}

// Whatever strangers send, a "hushgrad serve" stays below attackMemory and serves others. So does a
// "hushgrad shuffle".
func TestServeOutlivesAttacks(t *testing.T) { outlives(t, serverRole) }

func TestShuffleOutlivesAttacks(t *testing.T) { outlives(t, shufflerRole) }

// processors is locked by an attack that computes: no other one takes its processor time.
var processors sync.Mutex

// An attack that waits takes a minute. It runs beside the others, which run one after the
// other, those on the server and those on the shuffler.
func outlives(t *testing.T, role string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads the memory of a process from /proc")
	}
	if !*long {
		t.Skip("attacks for minutes")
	}
	t.Parallel()
	withstand := func(name string) {
		t.Run(name, func(t *testing.T) { startVictim(t, role).withstand(t, name) })
	}
	names := slices.Sorted(maps.Keys(attacks))
	var waiting sync.WaitGroup
	for _, name := range names {
		if attacks[name].waits {
			waiting.Go(func() { withstand(name) })
		}
	}
	for _, name := range names {
		if !attacks[name].waits {
			processors.Lock()
			withstand(name)
			processors.Unlock()
		}
	}
	waiting.Wait()
}

// withstand attacks a process while a good client calls it, and says what both saw.
func (p *process) withstand(t *testing.T, name string) {
	t.Helper()
	rounds := service.NewRoundsClient(dialServe(t, p.clients))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	attacked := startAttack(t, name, p)
	context.AfterFunc(attacked, cancel)
	if err := p.behave(ctx, rounds); err != nil {
		t.Errorf("the good client's call %d: %v", p.calls, err)
	}
	<-attacked.Done()
	peak := p.peakMemory(t)
	t.Logf("at most %d MiB of memory and %d open files; the slowest of %d good GetRound took %v, of SubmitReports %v",
		peak>>20, p.files, p.calls, p.slowest[0].Round(time.Millisecond), p.slowest[1].Round(time.Millisecond))
	if limit := int64(attackMemory + attackModel); peak > limit {
		t.Errorf("%d bytes of memory, want at most %d", peak, limit)
	}
	if p.files < 5 || p.files > attackFiles {
		t.Errorf("%d open files, want at most %d", p.files, attackFiles)
	}
	if p.calls < 2 {
		t.Errorf("%d good calls during the attack", p.calls)
	}
}

// victim is the server that an attack is against, as the attacker knows it.
type victim struct {
	clients string                               // address
	request func() *service.SubmitReportsRequest // with one report
	publish func(context.Context)                // a new model, which the operator does
	sent    *atomic.Int64                        // bytes of messages and models so far
}

// startAttack runs an attack in a process of its own. Attackers have machines of their own, so here
// they get what processor time the server and the good client leave. The context ends with it.
func startAttack(t *testing.T, name string, p *process) context.Context {
	t.Helper()
	command := exec.Command("nice", os.Args[0], "--test.run=^TestAttacker$")
	command.Env = append(os.Environ(), "HUSHGRAD_ATTACK="+name, "HUSHGRAD_CLIENTS="+p.clients, "HUSHGRAD_OPERATOR="+p.operator)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, ended := context.WithCancelCause(context.Background())
	go func() {
		err := command.Wait()
		if err != nil {
			t.Errorf("attacker: %v\n%.2000s", err, out.String())
		}
		ended(err)
	}()
	return ctx
}

// TestAttacker is the process of startAttack.
func TestAttacker(t *testing.T) {
	name := os.Getenv("HUSHGRAD_ATTACK")
	if name == "" {
		t.Skip("is run by TestServeOutlivesAttacks and TestShuffleOutlivesAttacks")
	}
	v := victim{sent: new(atomic.Int64), clients: os.Getenv("HUSHGRAD_CLIENTS")}
	resp, err := service.NewRoundsClient(dialServe(t, v.clients)).GetRound(t.Context(), &service.GetRoundRequest{})
	if err != nil {
		t.Fatal(err)
	}
	round, err := fl.RoundFromProto(resp.GetStatus().GetRound())
	if err != nil {
		t.Fatal(err)
	}
	v.request = requests(t, round)
	operator := client.NewOperator(dialServe(t, os.Getenv("HUSHGRAD_OPERATOR")))
	weights := make([]byte, attackModel)
	v.publish = func(ctx context.Context) {
		weights[0]++ // a new model, by one goroutine
		if _, err := operator.PutModel(ctx, "application/octet-stream", weights); err == nil {
			v.sent.Add(attackModel)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for time.Sleep(attackTime); v.sent.Load() < attacks[name].bytes; {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	attacks[name].run(ctx, v)
}

// swarm runs n attackers at once. Each begins anew when it is cut off.
func swarm(ctx context.Context, n int, attacker func(ctx context.Context, i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for ctx.Err() == nil {
				once, cancel := context.WithCancel(ctx)
				attacker(once, i)
				cancel()
			}
		})
	}
	all.Wait()
}

package serving

import (
	"context"
	"fmt"
	"runtime"
)

// measurement is one number that is measured in every repeat.
type measurement struct {
	what, setting string
	unit          string
	aim           float64      // 0: there is none
	atMost        bool         // the aim is a bound from above
	ceiling       *measurement // the same messages to gRPC alone, if that means anything
	series        string       // in the picture; empty: it is not there
	reports       int          // in a message, or tokens in a call
	// measure returns the number, and after it, if it is a rate of a server, the seconds of
	// processor time per report: the server's and the clients'.
	measure func(context.Context) ([]float64, error)

	values [][]float64 // by repeat
}

// Roles of server processes.
const (
	alone    = "grpc"
	inMemory = "memory"
	onDisk   = "disk"
)

// clients that keep a call each, and that make a call for each message.
const (
	streamers = 64
	callers   = 256
)

// prio3 is the contender of bench/peers that is measured beside ours.
const prio3 = "Prio3SumVec (circl)"

// target is a role that is measured, with its name in the table and an aim, 0 for none.
type target struct {
	role, what string
	aim        float64
}

func memory(aim float64) target { return target{inMemory, "journal in memory", aim} }
func disk(aim float64) target   { return target{onDisk, "journal on disk", aim} }

// measurements are what is measured, in the order of the table.
func (b *bench) measurements() (all []*measurement) {
	beside := func(t traffic, targets ...target) {
		ceiling := b.rate(target{role: alone, what: "gRPC alone"}, t)
		all = append(all, ceiling)
		for _, of := range targets {
			m := b.rate(of, t)
			m.ceiling = ceiling
			all = append(all, m)
		}
	}
	stream := traffic{load: b.wide, clients: streamers}
	sized := func(t traffic, reports int) traffic { t.reports = reports; return t }
	beside(sized(stream, 1), memory(0))
	beside(sized(stream, 64), memory(0), disk(500_000))
	beside(sized(stream, 4096), memory(2e6), disk(0))
	call := traffic{load: b.wide, reports: 1, calls: true, clients: callers}
	beside(call, memory(0), disk(6000))
	stream.load = b.narrow
	for _, reports := range []int{1, 64} {
		beside(sized(stream, reports), memory(0))
	}
	beside(sized(stream, 4096), memory(2e6))
	for _, t := range []traffic{{reports: 64, clients: streamers}, call} {
		t.load, t.limit, t.issuer = b.wide, b.tokens, b.issuer
		beside(t, memory(0), disk(0))
	}
	all = append(all, b.forwarding(sealed{load: b.wide, reports: b.sealed}, 12_000),
		b.forwarding(sealed{load: b.wide, reports: b.tokens, issuer: b.issuer}, 8_000))
	return append(all, b.recovery(), b.memory(), b.besidePrio3())
}

// rate is the measurement of a kind of traffic to the server of a role.
func (b *bench) rate(of target, t traffic) *measurement {
	m := &measurement{what: of.what, setting: t.String(), unit: "reports/s", aim: of.aim, reports: t.reports}
	if !t.calls && t.issuer == nil {
		m.series = fmt.Sprintf("%s, s = %d", of.what, t.load.sparsity)
	}
	m.measure = func(ctx context.Context) ([]float64, error) {
		s, err := b.server(ctx, of.role)
		if err != nil {
			return nil, err
		}
		got, err := t.measure(ctx, s, b.window)
		return []float64{got.rate, got.server, got.clients}, err
	}
	return m
}

// besidePrio3 is the measurement of the peer.
func (b *bench) besidePrio3() *measurement {
	m := &measurement{what: prio3, setting: fmt.Sprintf("both aggregators, 1 processor, no network, s = %d", b.wide.sparsity), unit: "reports/s"}
	m.measure = func(ctx context.Context) ([]float64, error) {
		seconds, err := b.peer.measure(ctx, b.wide)
		if err != nil {
			return nil, err
		}
		each, ok := seconds[prio3]
		if !ok {
			return nil, fmt.Errorf("bench/peers has no contender %q", prio3)
		}
		return []float64{1 / each, each}, nil
	}
	return m
}

func (t traffic) String() string {
	messages := fmt.Sprintf("%d reports per message", t.reports)
	if t.reports == 1 {
		messages = "1 report per message"
	}
	if t.calls {
		messages = "1 report per call"
	}
	if t.issuer != nil {
		messages += " with tokens"
	}
	return fmt.Sprintf("%s, s = %d, ε = %g", messages, t.load.sparsity, t.load.epsilon)
}

// notes say how the numbers were made.
func (b *bench) notes(repeats int, busy float64) []string {
	return []string{
		fmt.Sprintf("Medians of %d repeats of %v; low and high are the smallest and the largest. CoCo reports of %d coordinates.", repeats, b.window, dim),
		fmt.Sprintf("The server is a process of its own. It and the clients share %d processors. Clients are %d calls with many messages each, or %d callers with a call for each message, over %d connections on loopback TCP without TLS.", runtime.NumCPU(), streamers, callers, connections),
		fmt.Sprintf("The clients send %d reports that were encoded before, again and again, in batches that the server takes for new ones.", poolReports),
		fmt.Sprintf("With tokens the clients send %d reports, and make the tokens before that. The server verifies each.", b.tokens),
		fmt.Sprintf("Sealed reports are %d, or %d with tokens: HPKE with X25519, made before. A shuffler sends them in messages of %d and %d calls at once. The server opens each.", b.sealed, b.tokens, sealedPerMessage, sealedCalls),
		"gRPC alone receives the same messages and drops them. Server µs and client µs are the processor time of the two processes per report, also when other work makes them wait. Recovery is from the start of a process to its first answer with all reports, after a kill.",
		"Journals on disk are below --dir, or where the system keeps temporary files. They need a real disk there.",
		fmt.Sprintf("The load average of the machine was %.1f before the run and %.1f after it, the measurement included. Other work makes rates too low.", busy, loadAverage()),
	}
}

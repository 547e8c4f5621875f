package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// setting is what the flags say.
type setting struct {
	dir      string
	window   time.Duration
	kills    int
	profiles string
}

const (
	// maxWindow keeps what a journal in memory holds in bounds.
	maxWindow = time.Minute
	maxKills  = 10_000
)

func (s setting) validate() error {
	switch {
	case s.window < 0 || s.window > maxWindow:
		return fl.Invalid("--window", s.window, "must be in [0, %v]", maxWindow)
	case s.kills < 0 || s.kills > maxKills:
		return fl.Invalid("--kills", s.kills, "must be in [0, %d]", maxKills)
	}
	return nil
}

func (s setting) run(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	busy, repeats := loadAverage(), env.RepeatsOr(5)
	b := &bench{setting: s, tokens: 2048, sealed: 16_384, replayed: 1_000_000, servers: map[string]*server{}}
	b.window, b.kills = cmp.Or(s.window, time.Second), cmp.Or(s.kills, 20)
	if env.Quick {
		repeats = env.RepeatsOr(2)
		b.tokens, b.sealed, b.replayed = 256, 2048, 64_000
		b.window, b.kills = cmp.Or(s.window, 200*time.Millisecond), cmp.Or(s.kills, 3)
	}
	if b.work, err = os.MkdirTemp(s.dir, "hushgrad-serve-"); err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	defer func() { err = errors.Join(err, b.close()) }()
	env.Progress.Describe("build")
	if b.binary, err = Build(ctx, b.work); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if b.peer, err = buildPeer(ctx, b.work, b.window/10); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := b.prepare(env); err != nil {
		return nil, err
	}
	all := b.measurements()
	env.Progress.Describe("serve")
	env.Progress.Grow(repeats * len(all))
	for repeat := range repeats {
		for _, m := range all {
			values, err := env.Checkpoint.Do(fmt.Sprintf("%s, %s, %d", m.what, m.setting, repeat), func() ([]float64, error) { return m.measure(ctx) })
			if err != nil {
				return nil, errors.Join(ctx.Err(), fmt.Errorf("%s, %s: %w", m.what, m.setting, err))
			}
			m.values = append(m.values, values)
			env.Progress.Step()
		}
	}
	env.Progress.Describe("kill")
	env.Progress.Grow(b.kills)
	damage, err := env.Checkpoint.Do("kills", func() ([]float64, error) {
		d, err := b.killed(ctx, env)
		return d.values(), err
	})
	if err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("kills: %w", err))
	}
	return report(all, damageOf(damage), b.notes(repeats, busy)), nil
}

// bench is the state of a run.
type bench struct {
	setting
	work     string // directory, removed in the end
	binary   string
	wide     *load // s = 64, ε = 5
	narrow   *load // s = 8, ε = 1
	tokens   int   // in a measurement with tokens
	sealed   int   // in a measurement with sealed reports
	replayed int   // reports that a server reads again
	issuer   *issuer
	peer     *peer
	servers  map[string]*server
}

// prepare makes what clients send.
func (b *bench) prepare(env experiment.Env) (err error) {
	if b.wide, err = newLoad(env, 64, 5); err != nil {
		return err
	}
	if b.narrow, err = newLoad(env, 8, 1); err != nil {
		return err
	}
	b.issuer, err = newIssuer(env.Jobs)
	return err
}

// server returns the server of that role, which is started when it is first needed.
func (b *bench) server(ctx context.Context, role string) (*server, error) {
	if s := b.servers[role]; s != nil {
		return s, nil
	}
	args := map[string][]string{
		alone: {"--role", "drop"}, inMemory: {"--role", "server"}, onDisk: {"--role", "server", "--data", filepath.Join(b.work, "journal"), "--seal-keys", filepath.Join(b.work, "keys")},
	}[role]
	if b.profiles != "" {
		args = append(args, "--cpuprofile", filepath.Join(b.profiles, role+".pprof"))
	}
	p, err := Start(ctx, b.binary, args...)
	if err != nil {
		return nil, err
	}
	s := newServer(p)
	s.drops = role == alone
	b.servers[role] = s
	return s, nil
}

// close stops the servers and removes their files.
func (b *bench) close() (err error) {
	for _, s := range b.servers {
		err = errors.Join(err, s.Stop())
	}
	return errors.Join(err, os.RemoveAll(b.work))
}

// loadAverage is the number of processes that wanted a processor in the last minute, and −1
// where the system does not say it.
func loadAverage() float64 {
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return -1
	}
	average, err := system.LoadAvg()
	if err != nil {
		return -1
	}
	return average.Load1
}

package scale

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/serving"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

func (s *setting) run(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	clients, batch := sizes{1e6}, 4096
	if env.Quick {
		clients, batch = sizes{1e5}, 256
	}
	if len(s.clients) == 0 {
		s.clients = clients
	}
	s.batch = cmp.Or(s.batch, batch)
	work, err := os.MkdirTemp("", "hushgrad-scale-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	stop, err := s.startProfile()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	env.Progress.Describe("build")
	binary, err := serving.Build(ctx, work)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	var found []*outcome
	for _, n := range s.clients {
		o, err := s.simulate(ctx, env, binary, work, n)
		if err != nil {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("%d clients: %w", n, err))
		}
		found = append(found, o)
	}
	return s.report(found), nil
}

// startProfile starts the profile of the clients, if one is asked for.
func (s *setting) startProfile() (stop func() error, err error) {
	if s.profile == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(s.profile, 0o755); err != nil {
		return nil, fl.Invalid("--cpuprofile", s.profile, "must be a directory, or one that can be made: %v", err)
	}
	file, err := os.Create(filepath.Join(s.profile, "clients.pprof"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// outcome is what a round of one size came to.
type outcome struct {
	*population
	tally
	refused    float64 // late reports
	journal    float64 // bytes on disk when all reports were in
	closing    float64 // seconds from the end of the last part to the estimate
	counted    float64 // reports behind the estimate
	noise      float64 // norm of the estimate's error, apart from what liars do
	predicted  float64 // the same as the server estimates it
	pull       float64 // of the target: what liars moved it by
	pullStdErr float64
}

// numbers lists what is measured behind the last part.
func (o *outcome) numbers() []*float64 {
	return []*float64{&o.refused, &o.journal, &o.closing, &o.counted, &o.noise, &o.predicted, &o.pull, &o.pullStdErr}
}

// simulate runs a round. Its parts, and its end, are kept in the checkpoint.
func (s *setting) simulate(ctx context.Context, env experiment.Env, binary, work string, clients int) (_ *outcome, err error) {
	p, err := newPopulation(s, env.Seed, clients)
	if err != nil {
		return nil, err
	}
	data, run, err := s.journal(work, clients)
	if err != nil {
		return nil, err
	}
	args := []string{"--role", "server", "--data", data}
	if s.profile != "" {
		args = append(args, "--cpuprofile", filepath.Join(s.profile, fmt.Sprintf("server-%d.pprof", clients)))
	}
	server, err := serving.Start(ctx, binary, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	operator := client.NewOperator(server.Conns[0])
	if err := p.open(ctx, operator); err != nil {
		return nil, err
	}
	o, parts := &outcome{population: p}, p.parts()
	env.Progress.Describe(fmt.Sprintf("%d clients", clients))
	env.Progress.Grow(len(parts) + 1)
	for i, of := range parts {
		values, err := env.Checkpoint.Do(fmt.Sprintf("%d clients, part %d, journal %s", clients, i, run), func() ([]float64, error) {
			t, err := p.send(ctx, server, env.Jobs, of)
			if err != nil {
				return nil, err
			}
			return t.values(), nil
		})
		if err != nil {
			return nil, err
		}
		o.add(values)
		env.Progress.Step()
	}
	values, err := env.Checkpoint.Do(fmt.Sprintf("%d clients, end, journal %s", clients, run), func() ([]float64, error) { return o.finish(ctx, server, operator, data) })
	if err != nil {
		return nil, err
	}
	for i, v := range o.numbers() {
		*v = values[i]
	}
	env.Progress.Step()
	return o, nil
}

// journal returns the directory of the server's journal for a size, and a word that changes when
// it is made anew, so that a checkpoint is used only with the journal it belongs to.
func (s *setting) journal(work string, clients int) (dir, run string, err error) {
	if s.dir != "" {
		work = s.dir
	}
	dir = filepath.Join(work, fmt.Sprintf("scale-%d", clients))
	name := filepath.Join(dir, "run")
	if text, err := os.ReadFile(name); err == nil {
		return filepath.Join(dir, "journal"), string(text), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", "", fl.Invalid("--dir", s.dir, "must be readable: %v", err)
	}
	run = rand.Text()
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(name, []byte(run), 0o600)); err != nil {
		return "", "", fl.Invalid("--dir", s.dir, "must be a directory, or one that can be made: %v", err)
	}
	return filepath.Join(dir, "journal"), run, nil
}

// open opens the round unless the journal has it.
func (p *population) open(ctx context.Context, operator *client.Operator) error {
	rounds, err := operator.Rounds(ctx)
	if err != nil {
		return err
	}
	for _, r := range rounds {
		if r.Round.ID == p.round.ID {
			return nil
		}
	}
	_, err = operator.OpenRound(ctx, p.round)
	return err
}

package scale

import (
	"fmt"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// setting is what the flags say.
type setting struct {
	clients, extrapolate sizes
	dim, sparsity, batch int
	epsilon              float64
	rates                rates
	prices               prices
	dir, profile         string
}

// rates are shares of clients.
type rates struct{ dropout, late, resend, lie float64 }

// sizes is a flag with numbers of clients, such as 1e6,1e7.
type sizes []int

// Type implements flag.Value.
func (s *sizes) Type() string { return "numbers" }

func (s *sizes) String() string {
	var all []string
	for _, n := range *s {
		all = append(all, strconv.FormatFloat(float64(n), 'g', -1, 64))
	}
	return strings.Join(all, ",")
}

func (s *sizes) Set(text string) error {
	*s = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || !(n >= 1 && n <= 1e15) || n != float64(int(n)) {
			return fl.Invalid("clients", part, "must be a whole number in [1, 1e15]")
		}
		*s = append(*s, int(n))
	}
	return nil
}

func (s *setting) bind(f *flag.FlagSet) {
	f.Var(&s.clients, "clients", "`numbers` of clients to simulate, each in a round of its own; empty: 1e6, or 1e5 with --quick")
	s.extrapolate = sizes{1e9, 1e10, 1e12}
	f.Var(&s.extrapolate, "extrapolate", "`numbers` of clients to compute from the largest simulated one")
	f.IntVar(&s.dim, "dim", 7850, "coordinates of a gradient")
	f.IntVar(&s.sparsity, "sparsity", 64, "non-zero coordinates of what a client encodes")
	f.Float64Var(&s.epsilon, "epsilon", 5, "privacy budget of one report")
	f.IntVar(&s.batch, "batch", 0, "clients behind one message; 1: every client sends a message of its own; 0: 4096, or 256 with --quick")
	f.Float64Var(&s.rates.dropout, "dropout", 0.1, "share of clients that send nothing")
	f.Float64Var(&s.rates.late, "late", 0.01, "share of messages that come when the round is closed")
	f.Float64Var(&s.rates.resend, "resend", 0.05, "share of messages that are sent again")
	f.Float64Var(&s.rates.lie, "lie", 0.001, "share of clients that send the report which moves one coordinate furthest")
	s.prices.bind(f)
	f.StringVar(&s.dir, "dir", "", "`directory` for the server's journal: with --out, an interrupted size goes on where it was; empty: a temporary one, and an interrupted size starts anew")
	f.StringVar(&s.profile, "cpuprofile", "", "`directory` for profiles of the processor time, of clients and server")
}

func (s *setting) validate() error {
	switch {
	case s.dim < 1 || s.dim > fl.MaxDim:
		return fl.Invalid("--dim", s.dim, "must be in [1, %d]", fl.MaxDim)
	case s.sparsity < 1:
		return fl.Invalid("--sparsity", s.sparsity, "must be at least 1")
	case s.batch < 0 || s.batch > fl.MaxBatch:
		return fl.Invalid("--batch", s.batch, "must be in [0, %d]", fl.MaxBatch)
	}
	for _, r := range []struct {
		name  string
		share float64
	}{{"--dropout", s.rates.dropout}, {"--late", s.rates.late}, {"--resend", s.rates.resend}, {"--lie", s.rates.lie}} {
		if !(r.share >= 0 && r.share < 1) {
			return fl.Invalid(r.name, r.share, "must be in [0, 1)")
		}
	}
	for _, n := range s.clients {
		if n > fl.MaxReports {
			return fl.Invalid("--clients", n, "must be at most %d: use --extrapolate beyond", fl.MaxReports)
		}
	}
	if err := s.prices.validate(); err != nil {
		return err
	}
	return experiment.CheckEpsilon(s.epsilon)
}

// String describes the population.
func (r rates) String() string {
	return fmt.Sprintf("Clients: %g %% drop out, %g %% lie. Messages: %g %% late, %g %% sent again.", 100*r.dropout, 100*r.lie, 100*r.late, 100*r.resend)
}

package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/progress"
)

// Experiment reproduces one table or figure of a paper.
type Experiment struct {
	Name   string // the argument of go run ./bench and the files' name: lower-case letters, digits and hyphens
	Title  string // one line, for lists and above the figure
	Source string // the paper, and its table or figure
	// Kind is whom the numbers are for, and where the experiment is in the list.
	Kind Kind
	// Settings are the flags that make it the paper's experiment, where the defaults do not.
	Settings []string
	// PartOf names an experiment whose result holds this one's; "" if there is none.
	PartOf string
	// Alone keeps the experiment out of a run of all: it needs a program or a network that the
	// others do not.
	Alone bool
	// Without lists the common flags that mean nothing to this experiment. It has none of
	// them, so that a flag without effect is an error.
	Without []string

	// DataHelp is what --data is for; "": pictures that replace the generated digits.
	DataHelp string

	// Aside lists flags of its own that no number depends on, such as names of files. They are
	// left out of the command that a result records.
	Aside []string

	// Bind adds the experiment's own flags and returns the run that reads them
	// once they are parsed. The common flags (--jobs, --out, and the flags of Without) are
	// already there and come in the Env. Bind keeps the values in variables of its own,
	// so that two runs share nothing.
	Bind func(*flag.FlagSet) Run
}

// Kind says whom an experiment is for.
type Kind int

const (
	// Ours are measurements of this project, for its users.
	Ours Kind = iota
	// OfPaper are tables and figures of a paper, whose claims they decide.
	OfPaper
	// ForMaintainers are measurements that help to change the code or the planner.
	ForMaintainers
)

// All returns the experiments with this kind.
func (k Kind) All(list ...Experiment) []Experiment {
	for i := range list {
		list[i].Kind = k
	}
	return list
}

// The common flags that an experiment may be without. Without a seed it has no seeds either.
const (
	FlagData    = "data"
	FlagQuick   = "quick"
	FlagRepeats = "repeats"
	FlagSeed    = "seed"
	FlagSeeds   = "seeds"
)

// Run does the experiment. It returns ctx.Err(), wrapped or not, soon after ctx
// ends, and a *fl.ParamError for a flag that has a value it must not have. A
// claim that does not hold is a verdict and not an error.
type Run func(ctx context.Context, env Env) (*Result, error)

// Env is what every run is given.
type Env struct {
	Data     string        // directory with the four MNIST files, or "download"; empty: generated digits
	Seed     uint64        // for Stream
	Repeats  int           // 0: the experiment's own number
	Seeds    int           // of how many seeds this run is one; 0: one
	Quick    bool          // a smaller run of the same form, for a first look
	Jobs     int           // goroutines that may compute at the same time, at least 1
	Progress *progress.Bar // may be nil
	// Checkpoint keeps finished parts when the run writes files; may be nil.
	Checkpoint *Checkpoint
}

// RepeatsOr returns Repeats, or own when none were asked for.
func (e Env) RepeatsOr(own int) int {
	if e.Repeats > 0 {
		return e.Repeats
	}
	return own
}

// RepeatsOfSeed is RepeatsOr with fewer repeats where a run is one of several seeds, which a slow experiment has
// time for.
func (e Env) RepeatsOfSeed(own, fewer int) int {
	if e.Seeds > 1 {
		own = fewer
	}
	return e.RepeatsOr(own)
}

// streamLabel keeps these keys apart from all others that come from a seed.
const streamLabel = "hushgrad experiment stream"

// Stream returns the generator for one part of an experiment, named by numbers
// (the setting, the repeat, the client, …): ChaCha8 keyed with the SHA-256 of the
// seed and the parts. It depends on nothing else: a part gives the same numbers at any
// time and in any goroutine. It is for experiments only, because the seed reveals the
// noise.
func Stream(seed uint64, parts ...uint64) *rand.Rand {
	message := binary.LittleEndian.AppendUint64([]byte(streamLabel), seed)
	for _, part := range parts {
		message = binary.LittleEndian.AppendUint64(message, part)
	}
	return rand.New(rand.NewChaCha8(sha256.Sum256(message)))
}

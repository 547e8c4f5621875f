package dashboard

import (
	"math"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/crowd"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// Version is the version of the fields of a State. It grows when a field changes its meaning or goes.
const Version = 1

// State is all that the page shows. Bounds on privacy are texts, rounded up.
type State struct {
	Version int        `json:"version"`
	Time    *time.Time `json:"time,omitempty"` // when it was new
	Started time.Time  `json:"started"`
	Ready   bool       `json:"ready"`
	Problem string     `json:"problem,omitempty"` // why it is not ready; not on a public page
	// Public says that others than the operator may see this. Counts of open rounds, totals and
	// connections are then rounded down to 1, 2 or 5 times a power of ten, and there are no rates.
	Public bool `json:"public"`
	// Void says why nothing is promised whatever the rounds say.
	Void        string            `json:"void,omitempty"`
	Rounds      []Round           `json:"rounds"` // oldest first
	Together    Together          `json:"together"`
	Totals      Totals            `json:"totals"`
	Rates       []Rate            `json:"rates"`
	Models      []Model           `json:"models"` // oldest first
	Shards      []Shard           `json:"shards"` // of a cluster, none elsewhere
	Connections Connections       `json:"connections"`
	Series      []overview.Series `json:"series"` // by name
}

// Round is a round that the server keeps.
type Round struct {
	ID        string `json:"id"`
	State     string `json:"state"` // open, closing, closed, expired, aborted or failed
	Mechanism string `json:"mechanism"`
	Dim       int    `json:"dim"`
	Reports   int64  `json:"reports"`
	Min       int    `json:"min_reports"`
	Target    int    `json:"target_reports"` // 0 for none
	// Epsilon is the budget of one report as the round states it.
	Epsilon  string     `json:"epsilon"`
	Shuffler string     `json:"shuffler,omitempty"`
	Tokens   bool       `json:"tokens"`
	Opened   time.Time  `json:"opened"`
	Ended    *time.Time `json:"ended,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"`
	// PerSecond is the mean rate of reports over the whole round, once it has ended.
	PerSecond *float64 `json:"reports_per_second,omitempty"`
	Promise   *Promise `json:"promise"` // null while it is computed
	// Spent is the local budget of a client that reported once in this round and in every round before
	// it: a sum. null where one of them promises nothing locally, or is not known.
	Spent *Budget `json:"spent"`
	Worth *Worth  `json:"worth,omitempty"`
}

// Worth says how an estimate compares with its own error.
type Worth struct {
	SignalToNoise float64 `json:"signal_to_noise"`
	BelowNoise    bool    `json:"below_noise"` // the error is larger than what was estimated
	NoiseNorm     float64 `json:"noise_norm"`
	Suspects      int     `json:"suspects"` // coordinates at which more reports agree than honest clients send
}

// Totals are counts since the server was started.
type Totals struct {
	Accepted   int64            `json:"accepted"`   // reports
	Duplicates int64            `json:"duplicates"` // reports that had been counted before
	Refused    map[string]int64 `json:"refused"`    // messages with reports, by the gRPC code of the answer
	Rejected   map[string]int64 `json:"rejected"`   // sealed reports that do not count, by reason
}

// Rate is how fast reports came in the second before a time.
type Rate struct {
	Time      time.Time `json:"time"`
	PerSecond float64   `json:"reports_per_second"`
}

// Model is a version of the model.
type Model struct {
	Version   uint64     `json:"version"`
	Format    string     `json:"format"`
	Bytes     int64      `json:"bytes"`
	Published *time.Time `json:"published,omitempty"` // unknown if that was before the server was started
}

// Shard is how one part of a cluster stands, which counts a share of the reports.
type Shard struct {
	Number   int        `json:"number"`
	Holder   string     `json:"holder"`
	Reports  int64      `json:"reports"`
	Rejected int64      `json:"rejected"`
	Snapshot *time.Time `json:"snapshot,omitempty"` // none was kept yet
	Waiting  int64      `json:"waiting"`            // messages that no snapshot covers
}

// Connections are how many are open.
type Connections struct {
	Clients  int64 `json:"clients"`
	Operator int64 `json:"operator"`
	Shuffler int64 `json:"shuffler"`
}

// stateOf describes a server.
func stateOf(o overview.Overview, rates []Rate, promises *promises, c Config) State {
	shown := func(n int64) int64 { return n }
	if c.Public {
		shown = crowd.Bucket
	}
	s := State{
		Version: Version, Started: o.Started.UTC(), Ready: o.Ready == nil, Public: c.Public, Void: c.Void,
		Rounds: []Round{}, Rates: []Rate{}, Models: []Model{}, Series: []overview.Series{}, Shards: []Shard{},
		Totals:      Totals{shown(o.Totals.Accepted), shown(o.Totals.Duplicates), each(o.Totals.Refused, shown), each(o.Totals.Rejected, shown)},
		Connections: Connections{shown(o.Clients), shown(o.Operator), shown(o.Shuffler)},
	}
	if !c.Public {
		s.Rates = append(s.Rates, rates...)
		if o.Ready != nil {
			s.Problem = o.Ready.Error()
		}
	}
	one, spent, together := promises.of(o)
	s.Together = together
	for i, r := range o.Rounds {
		view := roundOf(r, shown)
		view.Promise, view.Spent = one(r), spent[i]
		s.Rounds = append(s.Rounds, view)
	}
	for _, m := range o.Models {
		s.Models = append(s.Models, Model{m.Version, m.Format, m.Bytes, known(m.Published)})
	}
	for _, p := range o.Shards {
		s.Shards = append(s.Shards, Shard{p.Number, p.Holder, shown(p.Reports), shown(p.Rejected), known(p.Snapshot), shown(p.Waiting)})
	}
	s.Series = append(s.Series, o.Series...)
	return s
}

func roundOf(r overview.Round, shown func(int64) int64) Round {
	d := r.Round
	view := Round{
		ID: d.ID, State: strings.ToLower(strings.TrimPrefix(r.State.String(), "ROUND_STATE_")), Mechanism: d.Mechanism, Dim: d.Dim,
		Reports: r.Reports, Min: d.MinReports, Target: d.TargetReports, Epsilon: fl.FormatUp(d.Epsilon, 4),
		Shuffler: d.Shuffler, Tokens: len(d.IssuerKey) > 0, Opened: r.Opened.UTC(), Ended: known(r.Ended), Deadline: known(d.Deadline),
	}
	if r.State == service.RoundState_ROUND_STATE_OPEN {
		view.Reports = shown(r.Reports)
		if r.Closing {
			view.State = "closing"
		}
	} else if took := r.Ended.Sub(r.Opened).Seconds(); took > 0 {
		rate := float64(r.Reports) / took
		view.PerSecond = &rate
	}
	if w := r.Worth; w != nil && !math.IsInf(w.SignalToNoise, 0) && !math.IsNaN(w.SignalToNoise) {
		view.Worth = &Worth{SignalToNoise: w.SignalToNoise, BelowNoise: w.SignalToNoise < 1, NoiseNorm: w.NoiseNorm, Suspects: w.Suspects}
	}
	return view
}

// known returns nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func each(counts map[string]int64, shown func(int64) int64) map[string]int64 {
	out := make(map[string]int64, len(counts))
	for label, n := range counts {
		out[label] = shown(n)
	}
	return out
}

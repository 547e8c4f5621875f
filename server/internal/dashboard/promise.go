package dashboard

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// Promise is what reports promise their client, in words.
type Promise struct {
	// Local is against everybody, and Central against a party that sees what a whole round gives
	// together. null where there is no such promise.
	Local   *Budget  `json:"local"`
	Central *Budget  `json:"central"`
	Words   []Words  `json:"words"`
	Notes   []string `json:"notes"` // what it rests on
}

// Budget is an upper bound.
type Budget struct {
	Epsilon string `json:"epsilon"`
	Delta   string `json:"delta"`
	Against string `json:"against,omitempty"` // the party, where the heading says too much
}

// Words are sentences under a heading.
type Words struct {
	About string   `json:"about"`
	Text  []string `json:"text"`
}

// Together is what all rounds promise a client that reported once in each.
type Together struct {
	Rounds   int      `json:"rounds"`   // all of them
	Composed int      `json:"composed"` // those that Promise is about: fewer while it is computed
	Promise  *Promise `json:"promise"`
	Fewer    *Fewer   `json:"fewer"` // null where it is not known, and where a client is in all rounds
	// Unknown says why there is no Promise, and none will be computed.
	Unknown string `json:"unknown,omitempty"`
}

// Fewer is what reports in fewer rounds promise, whichever rounds these are.
type Fewer struct {
	Reports int    `json:"reports"` // the most of one client by the plan of the training run, and 1 where the run does not say it
	Planned bool   `json:"planned"` // the run says it
	Local   Budget `json:"local"`
}

// digest names a kind of rounds.
type digest = [32]byte

// promises computes what rounds promise, in the background.
type promises struct {
	delta float64
	void  string // why nothing is promised, "" if something is
	wake  chan struct{}

	mu       sync.Mutex
	wanted   overview.Overview
	kinds    map[digest]*kind
	together Together
	composed string // what together is about
}

// kind is what one round of a kind promises.
type kind struct {
	round    fl.Round
	why      string         // it cannot be computed, "" if it can
	spending *plan.Spending // nil also in rounds of one client, which promise nothing centrally
	promise  plan.Promise   // of one round
}

// of returns what is known so far, and has the rest computed.
func (p *promises) of(o overview.Overview) (one func(overview.Round) *Promise, spent []*Budget, together Together) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.void != "" {
		none := &Promise{Words: []Words{}, Notes: []string{"Nothing is promised: " + p.void + "."}}
		return func(overview.Round) *Promise { return none }, make([]*Budget, len(o.Rounds)), Together{Rounds: total(o), Unknown: p.void}
	}
	p.wanted = o
	select {
	case p.wake <- struct{}{}:
	default:
	}
	known := p.known(o.Kinds)
	together = p.together
	together.Rounds, together.Fewer = total(o), fewerIn(o, known)
	return func(r overview.Round) *Promise {
		if r.Kind < 0 || known[r.Kind] == nil {
			return nil
		}
		return known[r.Kind].inWords(r.Round)
	}, spentIn(o, known), together
}

// known returns what was computed of each kind, nil where nothing was. The caller holds p.mu.
func (p *promises) known(of []overview.Kind) []*kind {
	out := make([]*kind, len(of))
	for i, k := range of {
		if name, err := k.Round.Digest(); err == nil {
			out[i] = p.kinds[name]
		}
	}
	return out
}

// work computes what is wanted until ctx ends, for at most a fifth of the time.
func (p *promises) work(ctx context.Context) {
	for {
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		o := p.wanted
		p.mu.Unlock()
		began := time.Now()
		p.compute(ctx, o)
		select {
		case <-time.After(4 * time.Since(began)):
		case <-ctx.Done():
		}
	}
}

// compute finds out what the rounds promise, each by itself and all together. It is called by one goroutine
// at a time. What is not known when ctx ends stays as it was.
func (p *promises) compute(ctx context.Context, o overview.Overview) {
	if p.void != "" {
		return
	}
	kinds := p.learn(ctx, o.Kinds)
	name := fmt.Sprint(counts(o), o.Unknown)
	if name == p.composed {
		return
	}
	together := p.add(ctx, o, kinds)
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	p.together, p.composed = together, name
	p.mu.Unlock()
}

// total is the number of rounds that there ever were.
func total(o overview.Overview) int {
	n := o.Unknown
	for _, k := range o.Kinds {
		n += k.Count
	}
	return n
}

func counts(o overview.Overview) (all []int) {
	for _, k := range o.Kinds {
		all = append(all, k.Count)
	}
	return all
}

// learn returns what is known of each kind, after it has computed what was not.
func (p *promises) learn(ctx context.Context, of []overview.Kind) []*kind {
	out := make([]*kind, len(of))
	for i, k := range of {
		name, err := k.Round.Digest()
		if err != nil {
			out[i] = &kind{round: k.Round, why: err.Error()}
			continue
		}
		p.mu.Lock()
		out[i] = p.kinds[name]
		p.mu.Unlock()
		if out[i] == nil && ctx.Err() == nil {
			out[i] = newKind(ctx, k.Round, p.delta)
			if ctx.Err() == nil {
				p.mu.Lock()
				p.kinds[name] = out[i]
				p.mu.Unlock()
			}
		}
	}
	return out
}

// newKind computes what one round promises, with min_reports clients.
func newKind(ctx context.Context, r fl.Round, delta float64) (k *kind) {
	k = &kind{round: r}
	defer func() {
		if problem := recover(); problem != nil { // of a mechanism of somebody else's
			k.why = fmt.Sprintf("the mechanism %s panicked", r.Mechanism)
		}
	}()
	m, err := fl.Open(r)
	if err == nil && r.MinReports < 2 && m.Guarantee().Trust == fl.Local {
		g := m.Guarantee()
		k.promise = plan.Promise{Local: &g.Epsilon, LocalTotal: &g.Epsilon, LocalDelta: g.Delta, Delta: delta, Participations: 1}
		return k
	}
	if err == nil {
		k.spending, err = plan.NewSpending(m, r.MinReports, r.MinReports, delta)
	}
	if err == nil {
		k.promise, err = k.spending.Promise(ctx, 1)
	}
	if err != nil {
		k.why = err.Error()
	}
	return k
}

// inWords is what a round of the kind promises.
func (k *kind) inWords(r fl.Round) *Promise {
	if k.why != "" {
		return &Promise{Words: []Words{}, Notes: []string{"What the round promises could not be computed: " + k.why + "."}}
	}
	p := inWords(k.promise)
	if r.AboutRecords() {
		p.Notes = append(p.Notes, aboutRecords)
	}
	if r.MinReports < 2 && k.promise.Local != nil {
		p.Notes = append(p.Notes, "There is no central ε: min_reports is 1, and one report hides among no others.")
	}
	p.Notes = append(p.Notes, notes(k.promise, r.Shuffler, len(r.IssuerKey) > 0, fmt.Sprintf("on %d honest clients", r.MinReports))...)
	return p
}

// aboutRecords is true of rounds whose reports are sums of records.
const aboutRecords = "Reports are sums of records: each ε is for one record, and not for all records of a client."

// inWords is a promise as package plan writes it.
func inWords(given plan.Promise) *Promise {
	p := &Promise{Words: []Words{}, Notes: []string{}}
	if given.LocalTotal != nil {
		p.Local = &Budget{Epsilon: fl.FormatUp(*given.LocalTotal, 4), Delta: fl.FormatUp(given.LocalDelta, 4)}
	}
	if given.Central != nil {
		p.Central = &Budget{Epsilon: fl.FormatUp(*given.Central, 4), Delta: fl.FormatUp(given.Delta, 4)}
		if given.TwoServers {
			p.Central.Against = "against either server alone"
		}
	}
	for _, w := range given.Words() {
		p.Words = append(p.Words, Words(w))
	}
	return p
}

// notes say what a promise rests on here.
func notes(p plan.Promise, shuffler string, tokens bool, honest string) (out []string) {
	if p.Central == nil {
		return nil
	}
	if shuffler == "" {
		return []string{"Nothing shuffles: reports come to this server directly, and it sees who sent what. The central ε does not hold against it."}
	}
	out = append(out, fmt.Sprintf("The shuffler is %s. The central ε counts on it, and %s in the round.", shuffler, honest))
	if !tokens {
		out = append(out, "The round asks for no tokens: one party can send many reports, and those hide nobody.")
	}
	return out
}

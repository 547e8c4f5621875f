package parties

import (
	"cmp"
	"errors"
	"io"
	"os/exec"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/plan"
)

// Values of --roles.
const (
	OneRole    = 1
	ThreeRoles = 3
)

// Flags say who holds the rounds, and who lies in them.
type Flags struct {
	Roles       int
	CheckSteps  bool    // on public pictures
	PublicAlarm bool    // means are compared with public pictures
	Liars       *Liars  // set by Bind
	expect      float64 // share of liars that the plan counts on
	binary      string  // hushgrad for three roles, empty: it is built
}

// Bind adds the flags to a set.
func (p *Flags) Bind(f *flag.FlagSet) {
	f.IntVar(&p.Roles, "roles", OneRole, "1: a server in this process; 3: issuer, shuffler and aggregator, each in a process of its own, and every client with a token and a sealed report; 3 unless it is given with --trust two-servers")
	f.StringVar(&p.binary, "hushgrad", "", "with --roles 3: the hushgrad binary, a `file`; empty: it is built, in the directory of the module")
	p.Liars = &Liars{}
	p.Liars.bind(f)
	f.Float64Var(&p.expect, "plan-liars", 0, "share of clients that lie, which the plan counts on, as in hushgrad account plan --liars; clients lie with --liars alone")
	f.BoolVar(&p.CheckSteps, "check-steps", false, "take no step that makes the model worse on public pictures, as steps along means that liars have moved do")
	f.BoolVar(&p.PublicAlarm, "public-alarm", false, "with --mechanism coco or collision, whose rounds take the slower hash ideal then: find means that public pictures do not lead to, which few liars have moved, and leave their coordinates out; false alarms where clients hold other pictures")
}

// Check tells the request which liars to count on. It refuses parties that the request has no use for, and a request that lacks parties. dashboard is the address of the page, or "".
func (p *Flags) Check(q *plan.Request, seed uint64, dashboard string) error {
	q.Liars = p.expect
	switch {
	case !(p.expect >= 0 && p.expect < 0.5):
		return fl.Invalid("--plan-liars", p.expect, "must be in [0, 0.5)")
	case p.expect > 0 && q.Trust == plan.TwoServers && q.Proof == "":
		return fl.Invalid("--plan-liars", p.expect, "must be 0 with --trust %s and no proofs: one client who lies moves the sum at will. Type --proof %s as well", q.Trust, hdsum.ProofPrio3)
	case p.Roles != OneRole && p.Roles != ThreeRoles:
		return fl.Invalid("--roles", p.Roles, "must be %d or %d", OneRole, ThreeRoles)
	case p.Roles == ThreeRoles && q.Mechanism == hdsum.Name:
		return fl.Invalid("--roles", p.Roles, "must be %d with --mechanism %s: a report holds all messages of a client, which a shuffler of reports does not separate; %s is the sum by two servers", OneRole, hdsum.Name, hdsum.SharesName)
	case p.Roles == ThreeRoles && q.Trust == plan.OwnSite:
		return fl.Invalid("--roles", p.Roles, "must be %d with --trust %s: each site adds all noise itself, and needs no other party", OneRole, plan.OwnSite)
	case p.Roles == OneRole && (q.Mechanism == hdsum.SharesName || q.Trust == plan.TwoServers):
		return fl.Invalid("--roles", p.Roles, "must be %d with --mechanism %s and with --trust %s: the two servers are the shuffler and the aggregator", ThreeRoles, hdsum.SharesName, plan.TwoServers)
	case p.Roles == ThreeRoles && seed != 0 && dashboard != "":
		return fl.Invalid("--seed", seed, "must be 0 with --dashboard and --roles %d: the aggregator shows what rounds promise, and does not know that the noise repeats", ThreeRoles)
	case p.Roles == OneRole && p.binary != "":
		return fl.Invalid("--hushgrad", p.binary, "needs --roles %d", ThreeRoles)
	}
	return cmp.Or(CheckBinary(p.binary), p.Liars.check(q))
}

// MostSealed is the number of simulated clients of a round with two servers, unless --cohort says otherwise: one machine seals and opens all
// shares, so that a run takes minutes. Real clients seal their own.
const MostSealed = 6000

// Simulate bounds the clients of a round of a request whose clients are simulated here.
func Simulate(q *plan.Request) {
	if (q.Trust == plan.TwoServers || q.Mechanism == hdsum.SharesName) && q.Cohort == 0 && q.Records == 0 {
		q.Cohort = min(MostSealed, q.Clients)
	}
}

// CheckBinary finds out whether the program of --hushgrad can be started: a run should not plan for minutes and then end with
// the news that it cannot. The empty name is for one that is built.
func CheckBinary(name string) error {
	if name == "" {
		return nil
	}
	if _, err := exec.LookPath(name); err != nil {
		return fl.Invalid("--hushgrad", name, "must be the hushgrad program, a file: %v", errors.Unwrap(err))
	}
	return nil
}

// Site is what Open takes. The page of one server states central ε at delta.
func (p *Flags) Site(dashboard string, delta float64, log io.Writer) Options {
	return Options{Apart: p.Roles == ThreeRoles, Binary: p.binary, Dashboard: dashboard, Delta: delta, Log: log}
}

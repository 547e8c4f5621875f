package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
)

// Trust is whom the clients of a run trust. A budget is the ε of everything that a client ever sends in the
// run, against everybody whom the clients do not trust.
type Trust string

// Whom clients may trust.
const (
	// Nobody: a budget is the sum of the local ε of all reports of a client, δ = 0. It holds against
	// everybody. A client reports once in its life unless a cohort is given.
	Nobody Trust = "nobody"
	// OwnSite: sites hold records of many people, and people trust their site. A site adds Gaussian noise to
	// the sum of its clipped records. A budget is the (ε, δ) of one record. It holds against everybody
	// outside the site, the server included.
	OwnSite Trust = "own-site"
	// Shuffler: a budget is the composed central (ε, δ) of a client. It holds against parties that see only
	// the shuffled reports of each round.
	Shuffler Trust = "shuffler"
	// TwoServers: a budget is the composed central (ε, δ) of a client. It holds against either of two servers, whatever that
	// server does, as long as the other one is honest.
	TwoServers Trust = "two-servers"
	// Server: the server sees every gradient, and adds Gaussian noise to their sum. A budget is the composed
	// central (ε, δ) of a client. It holds against everybody but the server. This is the reference that
	// others are compared with.
	Server Trust = "server"
)

// Trusts returns all values, the one that asks least of others first.
func Trusts() []Trust { return []Trust{Nobody, OwnSite, Shuffler, TwoServers, Server} }

func (t Trust) validate() error {
	if !slices.Contains(Trusts(), t) {
		return fl.Invalid("trust", string(t), "must be one of %s", strings.Join(trusts(), ", "))
	}
	return nil
}

// Against says in a few words against whom a budget holds.
func (t Trust) Against() string {
	switch t {
	case OwnSite:
		return "everybody outside the site"
	case Shuffler:
		return "readers of shuffled reports"
	case TwoServers:
		return "either server alone"
	case Server:
		return "everybody but the server"
	}
	return "everybody"
}

// defaultTrust is whom clients trust where a request does not say it.
func (q Request) defaultTrust() Trust {
	must, fixed := trustOf(q.Mechanism)
	switch {
	case fixed:
		return must
	case q.Records > 0 && q.Mechanism == mechanisms.Auto:
		return OwnSite
	}
	return Nobody
}

// gaussianFor returns the mechanism whose Gaussian noise is made for a trust, "" where there is none.
func gaussianFor(t Trust) string {
	switch t {
	case OwnSite:
		return hdsum.SiteName
	case TwoServers:
		return hdsum.SharesName
	}
	return ""
}

// resolved is the request's mechanism, or what "auto" stands for where the trust leaves no choice.
func (q Request) resolved() string {
	if sum := gaussianFor(q.Trust); sum != "" && q.Mechanism == mechanisms.Auto {
		return sum
	}
	return q.Mechanism
}

// trustOf returns whom clients must trust for a mechanism, where it leaves no choice.
func trustOf(mechanism string) (t Trust, fixed bool) {
	switch mechanism {
	case hdsum.SiteName:
		return OwnSite, true
	case hdsum.SharesName:
		return TwoServers, true
	case hdsum.Name:
		return Shuffler, true
	}
	return "", false
}

// planned says whether runs are planned for t. For the others there are figures to compare with.
func (t Trust) planned() bool { return t != Server }

// Local says that a budget is the ε of what a client sends, whoever reads it. Otherwise it is central.
func (t Trust) Local() bool { return t == Nobody || t == OwnSite }

// DefaultBudget is the ε of a run for which none is asked: 4 where nobody is trusted, since noise that every client adds alone needs a larger one, and 1
// otherwise.
func (t Trust) DefaultBudget() float64 {
	if t == Nobody {
		return 4
	}
	return 1
}

// describe is the budget in words.
func (t Trust) describe(budget float64) string {
	kind := "central"
	if t.Local() {
		kind = "local"
	}
	return fmt.Sprintf("%s ε = %g", kind, budget)
}

package shuffler

import (
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// linker is an attacker who wants to know which report of one round has the same sender as which
// one of another. It has all that the server gets, so that no file or memory of the server holds more
// about the senders, and files of the shuffler.
type linker struct {
	files [][]byte
	keys  map[string]watched // of reports, by round
}

// near is how far apart in two orders reports may be that the attacker links.
const near = 10

// links guesses that reports at about the same place of two orders have the same sender, from the
// front or from the back, and returns the larger number of hits. The orders hold senders.
func links(first, second []int) int {
	n := len(second)
	place := make([]int, n)
	for i, sender := range second {
		place[sender] = i
	}
	forward, backward := 0, 0
	for i, sender := range first {
		if at := place[sender]; max(i-at, at-i) <= near {
			forward++
		}
		if at := n - 1 - place[sender]; max(i-at, at-i) <= near {
			backward++
		}
	}
	return max(forward, backward)
}

// secrets tries everything in the files as the secret that leads from one of the first tries reports of
// a round to a key in the journal, and returns what it finds, by round. A key may be in no file as a
// whole, so that one try finds a secret nearly always and not always.
func (l linker) secrets(t *testing.T, left map[string][][]byte, tries int) map[string]*secret {
	t.Helper()
	found, none := map[string]*secret{}, [secretBytes]byte{}
	for _, file := range l.files {
		for i := range max(0, len(file)-secretBytes+1) {
			raw := [secretBytes]byte(file[i:])
			if raw == none {
				continue
			}
			s := &secret{keys: derive(raw, "key", 32)}
			for round, reports := range left {
				for _, sealed := range reports[:tries] {
					if l.keys[round][s.key(seal.ID(sealed))] > 0 {
						found[round] = s
					}
				}
			}
		}
	}
	return found
}

// watched is the order in which the keys of a round's reports came into the journal, from 1: what somebody
// sees who reads the disk after each report.
type watched map[[keyBytes]byte]int

// look notes the keys that are new.
func (w watched) look(t *testing.T, j journal.Journal, round string) {
	t.Helper()
	prefix := reportsOf(round)
	for pair, err := range j.Scan(prefix, journal.After(prefix)) {
		if err != nil {
			t.Fatal(err)
		}
		if key := [keyBytes]byte(pair.Key[len(prefix):]); w[key] == 0 {
			w[key] = len(w) + 1
		}
	}
}

// arrival returns the reports of a round in the order in which their keys came.
func (l linker) arrival(round string, s *secret, sealed [][]byte) [][]byte {
	ordered, at := slices.Clone(sealed), l.keys[round]
	slices.SortFunc(ordered, func(a, b []byte) int { return at[s.key(seal.ID(a))] - at[s.key(seal.ID(b))] })
	return ordered
}

// Clients who report in the same order in two rounds are not linked: not by the server, which has
// everything that ever leaves the shuffler, and not by the server with all files of the shuffler
// after the rounds and the order in which its entries came. With the secrets of the rounds, which the shuffler has while they last, the same
// attack links every one of them: so the test sees what there is to see.
//
// Under unrelated orders a client is linked with probability below 21/200, so that 21 hits are expected
// and more than 60 have a probability below 10^-10 for each direction (Poisson, which has the larger
// tails). An attacker who links a third of the clients has more than that.
func TestReportsOfTwoRoundsAreNotLinked(t *testing.T) {
	t.Parallel() // it mostly waits
	const n, most = 200, 60
	server := newRecorder()
	p, dir, closeAll := diskParty(t, Config{}, server)
	sent, left, came := map[string][][]byte{}, map[string][][]byte{}, map[string]watched{}
	var secrets [][]byte
	for _, id := range []string{"first", "second"} {
		r := newSealedRound(t, func(r *fl.Round) { r.ID, r.TargetReports = id, n })
		server.open(r.Round)
		hold := func(refuse func(int) error) { server.with(func() { server.refuse = refuse }) }
		hold(func(int) error { return status.Error(codes.Unavailable, "not yet") })
		sent[id], came[id] = r.items(t, n), watched{}
		for _, item := range sent[id] {
			p.keeps(t, r, 1, 0, item)
			came[id].look(t, p.cfg.Journal, id)
		}
		secret, err := p.vault.read(r.digest)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret[:])
		before, _ := server.got()
		hold(nil)
		p.gone(t, id, forwarded)
		after, _ := server.got()
		left[id] = after[len(before):]
	}
	closeAll()

	senders := func(id string, reports [][]byte) []int {
		of := map[string]int{}
		for i, item := range sent[id] {
			of[string(item)] = i
		}
		out := make([]int, len(reports))
		for i, sealed := range reports {
			out[i] = of[string(sealed)]
		}
		return out
	}
	files := filesOf(t, dir)
	honest := linker{files, came}
	if hits := links(senders("first", left["first"]), senders("second", left["second"])); hits > most {
		t.Errorf("the server links %d of %d clients", hits, n)
	}
	if found := honest.secrets(t, left, 1); len(found) > 0 {
		t.Errorf("the files of the shuffler lead to the secrets of %d rounds", len(found))
	}

	colluding := linker{secrets, came}
	found := colluding.secrets(t, left, 20)
	if len(found) != 2 {
		t.Fatalf("the attacker recognizes the secrets of %d rounds: the attack is too weak", len(found))
	}
	order := func(id string) []int { return senders(id, colluding.arrival(id, found[id], left[id])) }
	if hits := links(order("first"), order("second")); hits < n*9/10 {
		t.Errorf("with the secrets of the rounds %d of %d clients are linked: the attack is too weak", hits, n)
	}
}

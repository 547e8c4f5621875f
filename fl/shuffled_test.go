package fl

import (
	"crypto/sha256"
	"errors"
	"math"
	"testing"
)

// pinning accepts local ε = 1 from everybody, and of rounds through a.example local ε = 5 whose
// central guarantee is (1, 1e-6).
func pinning() (Policy, Round, Guarantee, Guarantee) {
	key := []byte("seal key")
	p := Policy{MaxEpsilon: 1, MinReports: 100, Shuffled: &ShuffledPolicy{
		Shufflers: []string{"b.example", "a.example"}, SealKeys: [][32]byte{{1}, sha256.Sum256(key)},
		MaxEpsilonLocal: 5, MaxEpsilon: 1, MaxDelta: 1e-6,
	}}
	r := Round{Mechanism: "coco", Dim: 10, MinReports: 100, Shuffler: "a.example", SealKey: key}
	return p, r, Guarantee{Trust: Local, Epsilon: 5, Relation: ReplaceOne}, Guarantee{Trust: Shuffle, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}
}

func TestCentralBudgetsNeedBothPins(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Policy, r *Round, local, central *Guarantee)
		param  string // "" for a round that meets the policy
	}{
		"pinned":             {func(*Policy, *Round, *Guarantee, *Guarantee) {}, ""},
		"no policy for it":   {func(p *Policy, _ *Round, _, _ *Guarantee) { p.Shuffled = nil }, "shuffler"},
		"no shuffler":        {func(_ *Policy, r *Round, _, _ *Guarantee) { r.Shuffler, r.SealKey = "", nil }, "shuffler"},
		"another shuffler":   {func(_ *Policy, r *Round, _, _ *Guarantee) { r.Shuffler = "c.example" }, "shuffler"},
		"another key":        {func(_ *Policy, r *Round, _, _ *Guarantee) { r.SealKey = []byte("seal kez") }, "seal_key"},
		"no key pinned":      {func(p *Policy, _ *Round, _, _ *Guarantee) { p.Shuffled.SealKeys = nil }, "seal_key"},
		"local ε":            {func(_ *Policy, _ *Round, local, _ *Guarantee) { local.Epsilon = math.Nextafter(5, 6) }, "epsilon"},
		"local δ":            {func(_ *Policy, _ *Round, local, _ *Guarantee) { local.Delta = 1e-9 }, "delta"},
		"no local guarantee": {func(_ *Policy, _ *Round, local, _ *Guarantee) { local.Trust, local.Epsilon = NoPrivacy, math.Inf(1) }, "trust"},
		"central ε":          {func(_ *Policy, _ *Round, _, central *Guarantee) { central.Epsilon = math.Nextafter(1, 2) }, "epsilon"},
		"NaN":                {func(_ *Policy, _ *Round, _, central *Guarantee) { central.Epsilon = math.NaN() }, "epsilon"},
		"central δ":          {func(_ *Policy, _ *Round, _, central *Guarantee) { central.Delta = 2e-6 }, "delta"},
		"central relation":   {func(_ *Policy, _ *Round, _, central *Guarantee) { central.Relation = ZeroOut }, "relation"},
		"not central":        {func(_ *Policy, _ *Round, _, central *Guarantee) { central.Trust = Local }, "trust"},
		"none":               {func(_ *Policy, _ *Round, _, central *Guarantee) { *central = Guarantee{} }, "trust"},
		"two servers":        {func(_ *Policy, _ *Round, _, central *Guarantee) { central.Trust = TwoServers }, "share_key"},
		"by its name alone": {func(p *Policy, r *Round, _, central *Guarantee) {
			central.Trust, r.ShareKey, p.Shuffled.ShareKeys = TwoServers, []byte("key"), [][32]byte{sha256.Sum256([]byte("key"))}
		}, "mechanism"},
		"another share key": {func(p *Policy, r *Round, _, _ *Guarantee) {
			r.ShareKey, p.Shuffled.ShareKeys = []byte("kez"), [][32]byte{{1}}
		}, "share_key"},
		"no share key pinned": {func(_ *Policy, r *Round, _, _ *Guarantee) { r.ShareKey = []byte("key") }, "share_key"},
		"too few reports":     {func(_ *Policy, r *Round, _, _ *Guarantee) { r.MinReports = 99 }, "min_reports"},
		"real numbers":        {func(_ *Policy, _ *Round, _, central *Guarantee) { central.RealNumbers = true }, "real_numbers"},
		"no central budget":   {func(p *Policy, _ *Round, _, _ *Guarantee) { p.Shuffled.MaxEpsilon = 0 }, "epsilon"},
	} {
		p, r, local, central := pinning()
		c.change(&p, &r, &local, &central)
		err := p.CheckShuffled(r, local, central)
		var bad *ParamError
		if c.param == "" && err != nil || c.param != "" && (!errors.Is(err, ErrPolicy) || !errors.As(err, &bad) || bad.Param != c.param) {
			t.Errorf("%s: %v, want ErrPolicy naming %q", name, err, c.param)
		}
		// The pins change nothing for a round that is judged by its local guarantee alone.
		if err := p.Check(r, local); !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: its local guarantee alone: %v, want ErrPolicy", name, err)
		}
	}
}

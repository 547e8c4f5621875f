package fl

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

// The limits themselves are allowed, and a round at all of them fits into the
// largest encoding.
func TestRoundsAtTheirLimits(t *testing.T) {
	r := fullRound()
	r.ID = strings.Repeat("a", 64)
	r.Dim, r.Epsilon, r.Delta = MaxDim, MaxEpsilon, math.Nextafter(1, 0)
	r.MinReports, r.TargetReports = MaxReports, MaxReports
	r.Deadline = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	r.Params = Params{}
	for i := range maxParams {
		r.Params[fmt.Sprintf("p%0*d", 31, i)] = Text(strings.Repeat("x", maxTextBytes))
	}
	data, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back Round
	if err := back.UnmarshalBinary(data); err != nil || !back.Equal(r) {
		t.Errorf("read back %+v, %v", back, err)
	}
	for name, c := range map[string]struct {
		mutate func(*Round)
		param  string
	}{
		"one parameter more":     {func(r *Round) { r.Params = r.Params.With("more", Int(1)) }, "params"},
		"one byte more":          {func(r *Round) { r.Params = Params{"p": Text(strings.Repeat("x", maxTextBytes+1))} }, "p"},
		"long parameter name":    {func(r *Round) { r.Params = Params{strings.Repeat("p", 33): Int(1)} }, "params"},
		"negative delta":         {func(r *Round) { r.Delta = -1e-300 }, "delta"},
		"delta 1":                {func(r *Round) { r.Delta = 1 }, "delta"},
		"epsilon":                {func(r *Round) { r.Epsilon = math.Nextafter(MaxEpsilon, 21) }, "epsilon"},
		"min_reports":            {func(r *Round) { r.MinReports, r.TargetReports = MaxReports+1, 0 }, "min_reports"},
		"negative min_reports":   {func(r *Round) { r.MinReports, r.TargetReports = -1, 0 }, "min_reports"},
		"target_reports":         {func(r *Round) { r.TargetReports = MaxReports + 1 }, "target_reports"},
		"target one below":       {func(r *Round) { r.TargetReports = MaxReports - 1 }, "target_reports"},
		"negative target":        {func(r *Round) { r.TargetReports = -1 }, "target_reports"},
		"relation":               {func(r *Round) { r.Relation = 3 }, "relation"},
		"negative scale":         {func(r *Round) { r.Scale = -1 }, "scale"},
		"deadline before year 1": {func(r *Round) { r.Deadline = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC) }, "deadline"},
	} {
		bad := r
		c.mutate(&bad)
		var p *ParamError
		if err := bad.Validate(); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", name, err, c.param)
		}
	}
}

func TestRoundFromProtoRefuses(t *testing.T) {
	unknown := []byte{0x9a, 0x06, 1, 'x'} // field 99
	for name, c := range map[string]struct {
		mutate func(*pb.Round)
		param  string
	}{
		"a round that breaks a rule": {func(m *pb.Round) { m.Epsilon = -1 }, "epsilon"},
		"no relation":                {func(m *pb.Round) { m.Relation = pb.Relation_RELATION_UNSPECIFIED }, "relation"},
		"an unknown field":           {func(m *pb.Round) { m.ProtoReflect().SetUnknown(unknown) }, "round"},
		"relation 257":               {func(m *pb.Round) { m.Relation = 257 }, "relation"}, // 1 in its low byte
		"an invalid timestamp":       {func(m *pb.Round) { m.Deadline = &timestamppb.Timestamp{Nanos: -1} }, "deadline"},
		"a parameter's unknown field": {func(m *pb.Round) {
			m.Params["slots"].ProtoReflect().SetUnknown(unknown)
		}, "slots"},
		"a parameter without value": {func(m *pb.Round) { m.Params["slots"] = &pb.Value{} }, "slots"},
		"a short seed":              {func(m *pb.Round) { m.PublicSeed = m.PublicSeed[1:] }, "public_seed"},
		"a long seed":               {func(m *pb.Round) { m.PublicSeed = append(m.PublicSeed, 1) }, "public_seed"},
	} {
		m := fullRound().Proto()
		c.mutate(m)
		var p *ParamError
		if _, err := RoundFromProto(m); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", name, err, c.param)
		}
	}
	// A round that is still to be completed may leave the relation open, and then
	// gets the usual one: an unknown relation must not pass for that.
	partial := fullRound().Proto()
	partial.Relation = 257
	if r, err := RoundFromPartialProto(partial); err == nil {
		t.Errorf("relation 257 of a partial round: got %+v, want an error", r.Relation)
	}
	if _, err := RoundFromProto(nil); err == nil {
		t.Error("nothing: want an error")
	}
	if r, err := RoundFromProto(fullRound().Proto()); err != nil || !r.Equal(fullRound()) {
		t.Errorf("a good round: %+v, %v", r, err)
	}
}

func TestEqualSeesEveryField(t *testing.T) {
	r := fullRound()
	for name, mutate := range map[string]func(*Round){
		"id": func(r *Round) { r.ID = "r-2" }, "mechanism": func(r *Round) { r.Mechanism = "other" },
		"dim": func(r *Round) { r.Dim++ }, "scale": func(r *Round) { r.Scale *= 2 },
		"epsilon": func(r *Round) { r.Epsilon *= 2 }, "delta": func(r *Round) { r.Delta = 1e-9 },
		"relation": func(r *Round) { r.Relation = ZeroOut }, "min_reports": func(r *Round) { r.MinReports++ },
		"target_reports": func(r *Round) { r.TargetReports++ }, "public_seed": func(r *Round) { r.PublicSeed[31]++ },
		"deadline":            func(r *Round) { r.Deadline = r.Deadline.Add(1) },
		"no deadline":         func(r *Round) { r.Deadline = time.Time{} },
		"a parameter's value": func(r *Round) { r.Params = r.Params.With("slots", Int(513)) },
		"a parameter's kind":  func(r *Round) { r.Params = r.Params.With("slots", Real(512)) },
		"one parameter more":  func(r *Round) { r.Params = r.Params.With("more", Int(0)) },
	} {
		other := r
		mutate(&other)
		if r.Equal(other) || other.Equal(r) {
			t.Errorf("%s: two different rounds are equal", name)
		}
	}
	elsewhere := r
	elsewhere.Deadline = r.Deadline.In(time.FixedZone("", 3600))
	if !r.Equal(elsewhere) {
		t.Error("the location of the deadline makes a difference")
	}
}

func TestGuaranteesSurviveTheirProtobufForm(t *testing.T) {
	for _, g := range []Guarantee{
		{Model: Local, Epsilon: 2.5, Relation: ReplaceOne},
		{Model: Shuffle, Epsilon: 0.125, Delta: 1e-7, Relation: ZeroOut},
		{Model: NoPrivacy, Epsilon: math.Inf(1), Relation: ReplaceOne},
	} {
		if back := GuaranteeFromProto(g.Proto()); back != g {
			t.Errorf("%+v comes back as %+v", g, back)
		}
	}
}

func TestPoliciesLookAtEverything(t *testing.T) {
	trusting := Policy{MaxEpsilon: 2, MaxDelta: 1e-6, TrustShuffler: true}
	for name, c := range map[string]struct {
		g     Guarantee
		param string
	}{
		"zero-out in the shuffle model": {Guarantee{Model: Shuffle, Epsilon: 1, Delta: 1e-6, Relation: ZeroOut}, "relation"},
		"NaN delta":                     {Guarantee{Model: Shuffle, Epsilon: 1, Delta: math.NaN(), Relation: ReplaceOne}, "delta"},
		"NaN delta, local":              {Guarantee{Model: Local, Epsilon: 1, Delta: math.NaN(), Relation: ReplaceOne}, "delta"},
		"delta in the shuffle model":    {Guarantee{Model: Shuffle, Epsilon: 1, Delta: 1e-5, Relation: ReplaceOne}, "delta"},
		"epsilon in the shuffle model":  {Guarantee{Model: Shuffle, Epsilon: 3, Relation: ReplaceOne}, "epsilon"},
		"model 0":                       {Guarantee{Epsilon: 1, Relation: ReplaceOne}, "model"},
	} {
		err := trusting.Check(Round{MinReports: 1}, c.g)
		var p *ParamError
		if !errors.Is(err, ErrPolicy) || !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want ErrPolicy naming %s", name, err, c.param)
		}
	}
}

// The key of RFC 5869's HKDF-Expand with one block, HMAC-SHA256(seed,
// "hushgrad/v1/" + purpose + 0x01), computed with Python's hmac module.
func TestPublicKeysAtRecordedValues(t *testing.T) {
	var r Round
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(i + 1)
	}
	for purpose, want := range map[string]string{
		"a":         "1e515e83ecc82a2566323057d31bc732a2be45ad3726459a75f795f0d3e8248b",
		"coco/hash": "b833cf7f2a07ad493eb4a9dd410571ac07b3abaa2c0b117038d98409381435cc",
	} {
		key, err := r.PublicKey(purpose)
		if got := hex.EncodeToString(key[:]); err != nil || got != want {
			t.Errorf("the key for %q is %s, %v, want %s", purpose, got, err, want)
		}
	}
}

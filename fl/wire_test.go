package fl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestRoundEncodingIsCanonicalAndStable(t *testing.T) {
	r := fullRound()
	first, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // map order must not show
		again, err := fullRound().MarshalBinary()
		if err != nil || !bytes.Equal(again, first) {
			t.Fatalf("two encodings differ: %x and %x (%v)", first, again, err)
		}
	}
	var back Round
	if err := back.UnmarshalBinary(first); err != nil {
		t.Fatal(err)
	}
	if !back.Equal(r) || back.Params["factor"] != Real(-0.5) || !back.Deadline.Equal(r.Deadline) {
		t.Errorf("read back %+v, want %+v", back, r)
	}
	// A change of these bytes breaks every client in the field. The digest was
	// computed by this code when the format was fixed.
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	const want = "84c5c3cbe534dfbd4a7cfd2a444a00a335c0c2a7e03de0f02ce6e4210a39436a"
	if got := hex.EncodeToString(digest[:]); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Columns follow the older fields. Without them a round has the bytes that it
// had before there were columns, see the digest above.
func TestColumnsTravelWithTheRound(t *testing.T) {
	plain, err := fullRound().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range [][]string{nil, {}, {ColumnFrequency}, {ColumnPlus, ColumnMinus}, {ColumnMinus, ColumnPlus}} {
		r := fullRound()
		r.Columns = columns
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(plain)
		for _, name := range columns { // field 13, a string
			want = append(append(want, 13<<3|2, byte(len(name))), name...)
		}
		if !bytes.Equal(data, want) {
			t.Errorf("columns %q are encoded as %x, want %x", columns, data, want)
		}
		var back Round
		if err := back.UnmarshalBinary(data); err != nil || !slices.Equal(back.Columns, columns) || !back.Equal(r) {
			t.Errorf("columns %q come back as %q, %v", columns, back.Columns, err)
		}
	}
}

// The issuer's key is the last field, and a round without one has the bytes that it had before
// there were issuers. With a key the digest is another one.
func TestTheIssuersKeyTravelsWithTheRound(t *testing.T) {
	plain, err := fullRound().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range [][]byte{nil, {}, {0}, {1, 2, 3}, bytes.Repeat([]byte{7}, MaxIssuerKeyBytes)} {
		r := fullRound()
		r.IssuerKey = key
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(plain)
		if len(key) > 0 { // field 14, bytes
			want = append(binary.AppendUvarint(append(want, 14<<3|2), uint64(len(key))), key...)
		}
		if !bytes.Equal(data, want) {
			t.Errorf("key %x is encoded as %x, want %x", key, data, want)
		}
		var back Round
		if err := back.UnmarshalBinary(data); err != nil || !bytes.Equal(back.IssuerKey, key) || !back.Equal(r) {
			t.Errorf("key %x comes back as %x, %v", key, back.IssuerKey, err)
		}
	}
}

// The outer key is field 18, behind all others but the share key. With another one the digest is another one.
func TestTheOuterKeyTravelsWithTheRound(t *testing.T) {
	r := fullRound()
	r.Shuffler, r.SealKey, r.IssuerKey = "a.example", []byte{1}, []byte{2}
	plain, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	digests := map[[32]byte]bool{}
	for _, key := range [][]byte{nil, {0}, {1, 2, 3}, bytes.Repeat([]byte{7}, MaxIssuerKeyBytes)} {
		r.OuterIssuerKey = key
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(plain)
		if len(key) > 0 { // bytes
			want = append(binary.AppendUvarint(binary.AppendUvarint(want, 18<<3|2), uint64(len(key))), key...)
		}
		if !bytes.Equal(data, want) {
			t.Errorf("key %x is encoded as %x, want %x", key, data, want)
		}
		var back Round
		if err := back.UnmarshalBinary(data); err != nil || !bytes.Equal(back.OuterIssuerKey, key) || !back.Equal(r) {
			t.Errorf("key %x comes back as %x, %v", key, back.OuterIssuerKey, err)
		}
		digest, err := r.Digest()
		if err != nil || digests[digest] {
			t.Errorf("key %x: the digest is another round's, %v", key, err)
		}
		digests[digest] = true
	}
}

// The features are the last field, and a round that does not say has the bytes that it had before.
func TestFeaturesTravelWithTheRound(t *testing.T) {
	plain, err := fullRound().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, features := range []string{"", "edges", "scatter-100:1f2e", strings.Repeat("f", MaxFeaturesBytes)} {
		r := fullRound()
		r.Features = features
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(plain)
		if features != "" { // field 17, a string
			want = append(binary.AppendUvarint(binary.AppendUvarint(want, 17<<3|2), uint64(len(features))), features...)
		}
		if !bytes.Equal(data, want) {
			t.Errorf("features %q are encoded as %x, want %x", features, data, want)
		}
		var back Round
		if err := back.UnmarshalBinary(data); err != nil || back.Features != features || !back.Equal(r) {
			t.Errorf("features %q come back as %q, %v", features, back.Features, err)
		}
	}
}

func TestRoundDecodingRefusesWhatIsNotCanonical(t *testing.T) {
	good, err := fullRound().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	unknown := append(bytes.Clone(good), 0x9a, 0x06, 1, 'x') // field 99
	twice := append(bytes.Clone(good), good...)
	invalid := fullRound()
	invalid.Epsilon = -1
	bad, err := proto.Marshal(invalid.Proto())
	if err != nil {
		t.Fatal(err)
	}
	nested := fullRound().Proto()
	nested.Params["slots"].ProtoReflect().SetUnknown([]byte{0x9a, 0x06, 1, 'x'})
	inside, err := proto.MarshalOptions{Deterministic: true}.Marshal(nested)
	if err != nil {
		t.Fatal(err)
	}
	noValue := fullRound().Proto()
	noValue.Params["slots"] = &pb.Value{}
	empty, err := proto.MarshalOptions{Deterministic: true}.Marshal(noValue)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "truncated": good[:len(good)-3], "unknown field": unknown, "repeated": twice,
		"breaks a rule": bad, "unknown field in a parameter": inside, "parameter without value": empty,
		"too long": make([]byte, maxRoundBytes+1),
	} {
		r := Round{ID: "untouched"}
		if err := r.UnmarshalBinary(data); err == nil {
			t.Errorf("%s: decoded to %+v", name, r)
		} else if r.ID != "untouched" {
			t.Errorf("%s: the error %v came with a changed round", name, err)
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
		"a column":            func(r *Round) { r.Columns = []string{ColumnPlus} },
		"an issuer's key":     func(r *Round) { r.IssuerKey = []byte{1} },
		"a shuffler":          func(r *Round) { r.Shuffler, r.SealKey = "a.example", []byte{1} },
		"a share key":         func(r *Round) { r.ShareKey = []byte{1} },
		"an outer key":        func(r *Round) { r.OuterIssuerKey = []byte{1} },
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
		{Trust: Local, Epsilon: 1, Relation: ReplaceOne, RealNumbers: true},
		{Trust: Local, Epsilon: 2.5, Relation: ReplaceOne},
		{Trust: Shuffle, Epsilon: 0.125, Delta: 1e-7, Relation: ZeroOut},
		{Trust: TwoServers, Epsilon: 1, Delta: 1e-7, Relation: ReplaceOne},
		{Trust: NoPrivacy, Epsilon: math.Inf(1), Relation: ReplaceOne},
	} {
		if back := GuaranteeFromProto(g.Proto()); back != g {
			t.Errorf("%+v comes back as %+v", g, back)
		}
	}
}

// Whatever is decoded is valid and encodes to the very same bytes.
func FuzzRoundUnmarshal(f *testing.F) {
	good, err := fullRound().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	columns := fullRound()
	columns.Columns = []string{ColumnFrequency, ColumnConditional}
	more, err := columns.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	admitted := fullRound()
	admitted.IssuerKey = []byte{1, 2, 3}
	keyed, err := admitted.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	admitted.Shuffler, admitted.SealKey, admitted.OuterIssuerKey, admitted.ShareKey = "a.example", []byte{1}, []byte{4}, []byte{5}
	outer, err := admitted.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(more)
	f.Add(keyed)
	f.Add(outer)
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Round
		if err := r.UnmarshalBinary(data); err != nil {
			return
		}
		again, err := r.MarshalBinary()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x decodes to %+v, which encodes to %x (%v)", data, r, again, err)
		}
	})
}

package fl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

func fullRound() Round {
	return Round{
		ID: "r-1", Mechanism: "coco", Dim: 7850, Scale: 1.5, Epsilon: 5, Delta: 0, Relation: ReplaceOne,
		MinReports: 100, TargetReports: 2000, Deadline: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC),
		Params:     Params{"sparsity": Int(64), "slots": Int(512), "hash": Text("ideal"), "factor": Real(-0.5)},
		PublicSeed: [32]byte{0: 1, 31: 0xFF},
	}
}

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

func TestRoundValidateNamesTheField(t *testing.T) {
	for name, c := range map[string]struct {
		mutate func(*Round)
		param  string
	}{
		"empty id":           {func(r *Round) { r.ID = "" }, "id"},
		"long id":            {func(r *Round) { r.ID = strings.Repeat("a", 65) }, "id"},
		"id with a slash":    {func(r *Round) { r.ID = "a/b" }, "id"},
		"mechanism":          {func(r *Round) { r.Mechanism = "CoCo" }, "mechanism"},
		"dim 0":              {func(r *Round) { r.Dim = 0 }, "dim"},
		"dim too large":      {func(r *Round) { r.Dim = MaxDim + 1 }, "dim"},
		"scale 0":            {func(r *Round) { r.Scale = 0 }, "scale"},
		"scale NaN":          {func(r *Round) { r.Scale = math.NaN() }, "scale"},
		"scale Inf":          {func(r *Round) { r.Scale = math.Inf(1) }, "scale"},
		"epsilon 0":          {func(r *Round) { r.Epsilon = 0 }, "epsilon"},
		"epsilon NaN":        {func(r *Round) { r.Epsilon = math.NaN() }, "epsilon"},
		"epsilon -Inf":       {func(r *Round) { r.Epsilon = math.Inf(-1) }, "epsilon"},
		"epsilon too large":  {func(r *Round) { r.Epsilon = MaxEpsilon + 0.1 }, "epsilon"},
		"delta 1":            {func(r *Round) { r.Delta = 1 }, "delta"},
		"delta NaN":          {func(r *Round) { r.Delta = math.NaN() }, "delta"},
		"relation":           {func(r *Round) { r.Relation = 0 }, "relation"},
		"min_reports 0":      {func(r *Round) { r.MinReports = 0 }, "min_reports"},
		"target below min":   {func(r *Round) { r.TargetReports = 99 }, "target_reports"},
		"deadline":           {func(r *Round) { r.Deadline = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "deadline"},
		"no public seed":     {func(r *Round) { r.PublicSeed = [32]byte{} }, "public_seed"},
		"unset parameter":    {func(r *Round) { r.Params = r.Params.With("slots", Value{}) }, "slots"},
		"NaN parameter":      {func(r *Round) { r.Params = r.Params.With("factor", Real(math.NaN())) }, "factor"},
		"long text":          {func(r *Round) { r.Params = r.Params.With("hash", Text(strings.Repeat("x", maxTextBytes+1))) }, "hash"},
		"bad parameter name": {func(r *Round) { r.Params = r.Params.With("Slots!", Int(1)) }, "params"},
		"many parameters": {func(r *Round) {
			for i := range maxParams {
				r.Params = r.Params.With("p"+strings.Repeat("x", i), Int(i))
			}
		}, "params"},
	} {
		r := fullRound()
		c.mutate(&r)
		var p *ParamError
		if err := r.Validate(); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want a ParamError for %s", name, err, c.param)
		}
		if _, err := r.MarshalBinary(); err == nil {
			t.Errorf("%s: encoded all the same", name)
		}
	}
	r := fullRound()
	r.Epsilon, r.Params, r.TargetReports, r.Deadline = math.Inf(1), nil, 0, time.Time{}
	if err := r.Validate(); err != nil {
		t.Errorf("the least round: %v", err)
	}
}

func TestPublicKeysDependOnPurposeAndSeed(t *testing.T) {
	r := fullRound()
	a, err := r.PublicKey("a")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := r.PublicKey("b")
	same, _ := fullRound().PublicKey("a")
	r.PublicSeed[5]++
	other, _ := r.PublicKey("a")
	if a != same || a == b || a == other || a == [32]byte{} {
		t.Errorf("keys a=%x b=%x, again %x, other seed %x", a, b, same, other)
	}
}

// Whatever is decoded is valid and encodes to the very same bytes.
func FuzzRoundUnmarshal(f *testing.F) {
	good, err := fullRound().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
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

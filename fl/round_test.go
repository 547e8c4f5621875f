package fl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func fullRound() Round {
	return Round{
		ID: "r-1", Mechanism: "coco", Dim: 7850, Scale: 1.5, Epsilon: 5, Delta: 0, Relation: ReplaceOne,
		MinReports: 100, TargetReports: 2000, Deadline: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC),
		Params:     Params{"sparsity": Int(64), "slots": Int(512), "hash": Text("ideal"), "factor": Real(-0.5)},
		PublicSeed: [32]byte{0: 1, 31: 0xFF},
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
		"the mean as column": {func(r *Round) { r.Columns = []string{ColumnPlus, ColumnMean} }, "columns"},
		"a column twice":     {func(r *Round) { r.Columns = []string{ColumnPlus, ColumnMinus, ColumnPlus} }, "columns"},
		"bad column name":    {func(r *Round) { r.Columns = []string{"Plus!"} }, "columns"},
		"empty column name":  {func(r *Round) { r.Columns = []string{""} }, "columns"},
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
	for i := range MaxColumns {
		r.Columns = append(r.Columns, fmt.Sprintf("c%0*d", 31, i))
	}
	r.IssuerKey, r.OuterIssuerKey = make([]byte, MaxIssuerKeyBytes), bytes.Repeat([]byte{1}, MaxIssuerKeyBytes)
	r.Shuffler, r.SealKey = strings.Repeat("s", 253), make([]byte, MaxSealKeyBytes)
	r.ShareKey = bytes.Repeat([]byte{1}, MaxSealKeyBytes)
	r.Features = strings.Repeat("f", MaxFeaturesBytes)
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
		"one column more":        {func(r *Round) { r.Columns = append(slices.Clone(r.Columns), "more") }, "columns"},
		"no seal key":            {func(r *Round) { r.SealKey = nil }, "seal_key"},
		"no shuffler":            {func(r *Round) { r.Shuffler = "" }, "seal_key"},
		"long seal key":          {func(r *Round) { r.Shuffler, r.SealKey = "a.example", make([]byte, MaxSealKeyBytes+1) }, "seal_key"},
		"shuffler with a port":   {func(r *Round) { r.Shuffler, r.SealKey = "a.example:1", []byte{1} }, "shuffler"},
		"upper case shuffler":    {func(r *Round) { r.Shuffler, r.SealKey = "A.example", []byte{1} }, "shuffler"},
		"outer key, no shuffler": {func(r *Round) { r.Shuffler, r.SealKey, r.ShareKey = "", nil, nil }, "outer_issuer_key"},
		"long share key":         {func(r *Round) { r.ShareKey = make([]byte, MaxSealKeyBytes+1) }, "share_key"},
		"the seal key again":     {func(r *Round) { r.ShareKey = r.SealKey }, "share_key"},
		"share key alone":        {func(r *Round) { r.Shuffler, r.SealKey, r.OuterIssuerKey = "", nil, nil }, "share_key"},
		"outer key alone":        {func(r *Round) { r.IssuerKey = nil }, "outer_issuer_key"},
		"long outer key":         {func(r *Round) { r.OuterIssuerKey = make([]byte, MaxIssuerKeyBytes+1) }, "outer_issuer_key"},
		"one key twice":          {func(r *Round) { r.OuterIssuerKey = r.IssuerKey }, "outer_issuer_key"},
		"long issuer key":        {func(r *Round) { r.IssuerKey = make([]byte, MaxIssuerKeyBytes+1) }, "issuer_key"},
		"long features":          {func(r *Round) { r.Features += "f" }, "features"},
		"features with a space":  {func(r *Round) { r.Features = "edges of 4×4" }, "features"},
		"features of two lines":  {func(r *Round) { r.Features = "edges\n" }, "features"},
		"long column name":       {func(r *Round) { r.Columns = []string{strings.Repeat("c", 33)} }, "columns"},
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

func TestCheckLocal(t *testing.T) {
	if err := fullRound().CheckLocal(); err != nil {
		t.Errorf("a finite ε, δ = 0, replace-one: %v", err)
	}
	for param, mutate := range map[string]func(*Round){
		"epsilon":  func(r *Round) { r.Epsilon = math.Inf(1) },
		"delta":    func(r *Round) { r.Delta = 1e-300 },
		"relation": func(r *Round) { r.Relation = ZeroOut },
	} {
		r := fullRound()
		mutate(&r)
		var p *ParamError
		if err := r.CheckLocal(); !errors.As(err, &p) || p.Param != param {
			t.Errorf("error %v, want a ParamError for %s", err, param)
		}
	}
}

package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

var long = flag.Bool("long", false, "find wrong encoders, too")

// maxVectors bounds the file, which everybody downloads.
const maxVectors = 200_000

// The vectors pin the format: what the code answers today is what it answered when the format was fixed. The cases of Encode
// draw fresh randomness: they fail with a probability of at most 10·falseAlarm = 1e-6.
func TestTheVectorsAreOurs(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 100 || len(vectors) > maxVectors {
		t.Errorf("%d cases in %d bytes", len(cases), len(vectors))
	}
	names, subjects := map[string]bool{}, []string(nil)
	for i, c := range cases {
		name := c.Subject + "/" + c.Name
		if c.ID != i+1 || names[name] {
			t.Errorf("case %d has the id %d and the name %s", i+1, c.ID, name)
		}
		names[name] = true
		if subjects = append(subjects, c.Subject); len(slices.Compact(slices.Clone(subjects))) != len(slices.Compact(slices.Sorted(slices.Values(subjects)))) {
			t.Errorf("%s: the cases of a subject do not follow each other", name)
		}
		file, anchor, _ := strings.Cut(c.Where, "#")
		page, err := os.ReadFile("../../../../" + file)
		if err != nil || anchor != "" && !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(string(page)), ",", ""), " ", "-"), "\n##-"+anchor+"\n") {
			t.Errorf("%s is specified in %q: %v", name, c.Where, err)
		}
		if (c.Want == nil) != (c.Subject == Encode) || (c.Law == nil) != (c.Want != nil) {
			t.Errorf("%s has an answer and probabilities, or neither", name)
			continue
		}
		line, err := json.Marshal(Respond(c))
		if err != nil {
			t.Fatal(err)
		}
		if a, wrong, err := judge(c, line); err != nil || wrong != nil || a.Unsupported {
			t.Errorf("%s: %+v, %v", name, wrong, err)
		}
	}
	if got := slices.Compact(subjects); len(got) != 10 {
		t.Errorf("subjects %q", got)
	}
}

// The probabilities in the vectors are the code's.
func TestTheProbabilitiesAreOurs(t *testing.T) {
	for _, c := range casesOf(t, Encode) {
		var r fl.Round
		if err := r.UnmarshalBinary(c.Round); err != nil {
			t.Fatal(err)
		}
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Token) > 0 { // the probabilities of one seed: see seededLaw
			w, err := exact.NewWeights(r.Epsilon, 1, max(2, slotsOf(r)))
			if err != nil || c.Law.Plus[0] != float64(w.High)/float64(w.Total) {
				t.Errorf("%s: %v, %v, weights %+v", c.Name, c.Law, err, w)
			}
			continue
		}
		plus, minus := make([]float64, r.Dim), make([]float64, r.Dim)
		if err := m.(fl.HitMechanism).AddHits(plus, minus, c.Gradient); err != nil || !slices.Equal(plus, c.Law.Plus) || !slices.Equal(minus, c.Law.Minus) {
			t.Errorf("%s: %v %v, %v", c.Name, plus, minus, err)
		}
	}
}

// slotsOf returns the slots of a round, and 0 for a mechanism without the parameter.
func slotsOf(r fl.Round) int {
	slots, _ := r.Params.Int("slots")
	return slots
}

func casesOf(t *testing.T, subject string) (some []Case) {
	t.Helper()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Subject == subject {
			some = append(some, c)
		}
	}
	return some
}

// An encoder that deviates is found, whatever it does wrong.
func TestWrongEncodersAreFound(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	c := casesOf(t, Encode)[0]
	reports := Respond(c).Reports
	size := len(reports) / c.Reports
	changed := func(change func(i int, report []byte)) []byte {
		out := bytes.Clone(reports)
		for i := range c.Reports {
			change(i, out[i*size:][:size])
		}
		return out
	}
	one := bytes.Clone(reports[:4])
	var half []byte // without the seeds that have their last bit
	for len(half) < len(reports) {
		for report := range slices.Chunk([]byte(Respond(c).Reports), size) {
			if report[3] < 0x80 {
				half = append(half, report...)
			}
		}
	}
	for want, bad := range map[string][]byte{
		"":                  changed(func(int, []byte) {}),
		"bytes of reports":  reports[:len(reports)-1],
		"must be":           changed(func(i int, r []byte) { r[4] |= 0x80 }),
		"at coordinate 0":   changed(func(i int, r []byte) { r[4] ^= byte(i&1) * 3 }), // half of the reports are of other slots
		"as bit 31":         half[:len(reports)],
		"seeds came before": changed(func(i int, r []byte) { copy(r, reports[:size*(i&^1+1)][size*(i&^1):]) }),
		"count":             changed(func(i int, r []byte) { copy(r, one) }),
	} {
		got, err := wrongReports(c, bad)
		if err != nil || (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for _, c := range casesOf(t, Encode) {
		if len(c.Token) == 0 {
			continue
		}
		forgetful := c
		forgetful.Token = nil
		if got, err := wrongReports(c, Respond(forgetful).Reports); err != nil || !strings.Contains(got, "want the token's") {
			t.Errorf("%s without the token: %q, %v", c.Name, got, err)
		}
		negative := c
		negative.Gradient = []float64{-1, 0, 0, 0}
		if got, err := wrongReports(c, Respond(negative).Reports); err != nil || !strings.Contains(got, "count +1 at coordinate 0") {
			t.Errorf("%s of another gradient: %q, %v", c.Name, got, err)
		}
	}
}

// Answers are compared whole, and what is wrong is said.
func TestAnswersAreCompared(t *testing.T) {
	good, bad := casesOf(t, Round)[0], casesOf(t, Encoding)[2]
	if bad.Want.Refused == "" || good.Want.Refused != "" {
		t.Fatal("the cases are others")
	}
	right := *good.Want
	right.ID = good.ID
	line, err := json.Marshal(right)
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		string(line):                                   "",
		strings.ToUpper(string(line)):                  "",
		strings.Replace(string(line), "a", "b", 1):     `{"round":`,
		strings.TrimSuffix(string(line), "}"):          "which is no answer",
		string(line) + "1":                             "which is no answer",
		`{"id":1,"refused":"no"}`:                      `{"refused":"no"}`,
		`{"id":1,"unheard":1}`:                         "which is no answer",
		`{"id":1}`:                                     "{}",
		`{"id":2,"unsupported":true}`:                  "an answer with the id 2",
		`{"id":1,"unsupported":true}`:                  "",
		`{"id":1,"refused":"\u001b[2J` + "\x1b" + `"}`: "which is no answer",
	} {
		_, wrong, err := judge(good, []byte(answer))
		if err != nil || (wrong == nil) != (want == "") || wrong != nil && !strings.Contains(wrong.Got, want) {
			t.Errorf("%s: %+v, %v, want %q", answer, wrong, err, want)
		}
		if wrong != nil && strings.ContainsRune(wrong.Got, 0x1b) {
			t.Errorf("a terminal would obey %q", wrong.Got)
		}
	}
	bad.ID = 1
	for answer, passes := range map[string]bool{`{"id":1,"refused":"whatever"}`: true, `{"id":1}`: false, `{"id":1,"digest":"00"}`: false} {
		if _, wrong, err := judge(bad, []byte(answer)); err != nil || (wrong == nil) != passes {
			t.Errorf("%s: %+v, %v", answer, wrong, err)
		}
	}
}

// Bytes that are no case are an error, and cases of any content have an answer.
func FuzzServe(f *testing.F) {
	for line := range bytes.Lines(vectors) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var out bytes.Buffer
		if err := Serve(bytes.NewReader(line), &out); err == nil && out.Len() == 0 && len(line) > 0 {
			t.Error("no answer and no error")
		}
	})
}

// Bytes that are no answer are a failure.
func FuzzJudge(f *testing.F) {
	cases, err := Cases()
	if err != nil {
		f.Fatal(err)
	}
	for i, c := range cases {
		if i > 0 && c.Subject == cases[i-1].Subject {
			continue // one seed of a subject
		}
		if line, err := json.Marshal(Respond(c)); err == nil {
			f.Add(i, line)
		}
	}
	f.Fuzz(func(t *testing.T, i int, line []byte) {
		if i < 0 || i >= len(cases) {
			return
		}
		if _, _, err := judge(cases[i], line); err != nil {
			t.Error(err)
		}
	})
}

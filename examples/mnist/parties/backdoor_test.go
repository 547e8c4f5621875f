package parties

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
)

// raw are features that are the picture itself.
type raw struct{}

func (raw) Inputs() int                { return 28 * 28 }
func (raw) Dim() int                   { return 28 * 28 }
func (raw) String() string             { return "raw" }
func (raw) Digest() [32]byte           { return [32]byte{} }
func (raw) Apply(dst, input []float64) { copy(dst, input) }

// The attack moves the weights of class 0 that meet the mark, and those alone. It is measured on marked pictures of the other classes.
func TestTheBackdoorIsTheMark(t *testing.T) {
	test := &dataset.Set{Images: make([]float64, 3*28*28), Labels: []int{0, 5, 7}, Rows: 28, Cols: 28, Classes: 10}
	l := &Liars{Attack: BackdoorAttack}
	if err := l.Prepare(t.Context(), test, raw{}, "softmax"); err != nil {
		t.Fatal(err)
	}
	b, dim := l.backdoor, (28*28+1)*10
	direction := b.along(dim)
	for i := range 28 * 28 {
		for class := range 10 {
			marked := i/28 >= 24 && i%28 >= 24 && class == 0
			if v := direction[i*10+class]; marked != (v < -0.5) || !marked && v != 0 { // few digits have ink in the corner
				t.Fatalf("feature %d, class %d: %g", i, class, v)
			}
		}
	}
	if test.Images[28*28-1] != 0 || len(b.marked) != 2 {
		t.Errorf("the test pictures have changed, or %d of the others are marked", len(b.marked))
	}
	params := make([]float64, dim)
	params[dim-10+3] = 1 // class 3, whatever the picture
	if l.Success() != nil {
		t.Error("a success before there is a model")
	}
	if got := b.measure(params); got != 0 || *l.Success() != 0 {
		t.Errorf("a model that knows no mark: %g", got)
	}
	for i, v := range direction {
		params[i] -= v
	}
	if got := b.measure(params); got != 1 || *l.Success() != 1 {
		t.Errorf("a model that knows the mark: %g", got)
	}
	params[dim-10+3] = math.Inf(1)
	if got := b.measure(params); got != 0 {
		t.Errorf("class 3 for sure: %g", got)
	}
}

// Liars of the other attack say the next class of all their examples, and of no others.
func TestLiarsNameTheNextClass(t *testing.T) {
	const clients = 50
	labels, order := make([]int, 101), make([]int, 101)
	for i := range labels {
		labels[i], order[i] = i%10, 100-i
	}
	l := &Liars{Share: 0.3, Attack: LabelsAttack}
	lied := 0
	for at, got := range l.Labels(labels, clients, 10, order) {
		want := at % 10
		if place := 100 - at; place < 100 && l.Lies(place/2) {
			want = (want + 1) % 10
			lied++
		}
		if got != want || labels[at] != at%10 {
			t.Errorf("example %d has the label %d, want %d", at, got, want)
		}
	}
	if lied < 10 || lied > 60 {
		t.Errorf("%d of 100 labels lie", lied)
	}
	l.Attack = BiasAttack
	if got := l.Labels(labels, clients, 10, order); &got[0] != &labels[0] {
		t.Error("another attack changes labels")
	}
}

func TestOtherAttacksNeedNoPictures(t *testing.T) {
	l := &Liars{Attack: BiasAttack}
	if err := l.Prepare(t.Context(), nil, nil, "cnn"); err != nil || l.Success() != nil {
		t.Errorf("%v", err)
	}
	l.Attack = BackdoorAttack
	var p *fl.ParamError
	if err := l.Prepare(t.Context(), nil, nil, "cnn"); !errors.As(err, &p) || p.Param != "--attack" {
		t.Errorf("cnn: %v", err)
	}
}

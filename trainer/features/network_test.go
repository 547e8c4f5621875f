package features_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
	"github.com/x448/float16"
)

const pixels = 28 * 28

var glyphInput = trainer.Input{Channels: 1, Height: 28, Width: 28}

// randomParts returns the numbers of a network of random weights, each of which is exact in
// half precision, and the model with its parameters that it stands for.
func randomParts(t testing.TB, channels [3]int, width, classes int) (features.NetworkParts, *trainer.Model, []float64) {
	t.Helper()
	m, err := trainer.NewEmbedder(glyphInput, classes, channels, width)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	params := m.Init(rng)
	for i, v := range params {
		params[i] = float64(float16.Fromfloat32(float32(v + 0.02*rng.NormFloat64())).Float32())
	}
	bias := len(params) - classes
	head := bias - width*classes
	p := features.NetworkParts{
		Channels: channels, Width: width, Weights: params[:head], Head: params[head:bias], HeadBias: params[bias:],
		Mean: make([]float64, width),
	}
	return p, m, params
}

func mustNetwork(t testing.TB, p features.NetworkParts) *features.Network {
	t.Helper()
	n, err := features.NewNetwork(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// randomPicture is half paper and half ink of any grey.
func randomPicture(rng *rand.Rand) []float64 {
	x := make([]float64, pixels)
	for i := range x {
		x[i] = max(0, 2*rng.Float64()-1)
	}
	return x
}

// The vectors are the vectors of the graph that the weights were trained with. For one example the
// graph's gradient by an output weight is the product of the vector's element and the
// derivative by the logit, and the gradient by the bias is that derivative: so their ratio is
// the element.
func TestNetworkIsTheTrainedGraph(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		channels       [3]int
		width, classes int
	}{{[3]int{8, 16, 32}, 64, 62}, {[3]int{3, 1, 5}, 7, 2}} {
		parts, model, params := randomParts(t, c.channels, c.width, c.classes)
		n := mustNetwork(t, parts)
		worker, err := model.NewWorker(1)
		if err != nil {
			t.Fatal(err)
		}
		defer worker.Close()
		gradient := make([]float64, model.Dim())
		largest := 0.0
		for range 20 {
			x := randomPicture(rng)
			if _, err := worker.Gradient(gradient, params, [][]float64{x}, []int{1}); err != nil {
				t.Fatal(err)
			}
			vector := make([]float64, n.Dim())
			n.Apply(vector, x)
			bias := len(gradient) - c.classes
			for j, got := range vector {
				want := gradient[bias-c.width*c.classes+j*c.classes] / gradient[bias]
				if math.Abs(got-want) > 1e-4*max(1, math.Abs(want)) {
					t.Fatalf("%v: element %d: got %g, want %g", n, j, got, want)
				}
				largest = max(largest, got)
			}
		}
		if largest < 0.1 {
			t.Errorf("%v: no element above %g: the test compares nothing", n, largest)
		}
	}
}

// The class is that with the largest logit of the graph.
func TestNetworkClass(t *testing.T) {
	parts, model, params := randomParts(t, [3]int{4, 4, 4}, 8, 3)
	parts.HeadBias[2] += 0.5 // of the graph, too
	n := mustNetwork(t, parts)
	e, err := model.NewEvaluator(1)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	var seen [3]int
	vector := make([]float64, n.Dim())
	for range 100 {
		x := randomPicture(rng)
		for i := range x {
			x[i] *= 4 * float64(i%(1+rng.IntN(9))%2)
		}
		n.Apply(vector, x)
		class := n.Class(vector)
		if right, _, err := e.Evaluate(params, [][]float64{x}, []int{class}); err != nil || right != 1 {
			t.Fatalf("class %d is not the graph's: %v", class, err)
		}
		seen[class]++
	}
	if slices.Max(seen[:]) == 100 {
		t.Errorf("all pictures are of one class: %v", seen)
	}
}

func TestNetworkFileRoundTrip(t *testing.T) {
	parts, _, _ := randomParts(t, [3]int{2, 3, 4}, 6, 5)
	parts.Mean = []float64{1, 2, 3, 4, 5, 6}
	parts.Components = [][]float64{{0, 1, 0, 0, 0, 0}, {0.5, 0, 0, 0, 0, -1}}
	n := mustNetwork(t, parts)
	var file bytes.Buffer
	if _, err := n.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	again, err := features.ReadNetwork(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(file.Bytes()); n.Digest() != sum || again.Digest() != sum {
		t.Error("the digest is not the file's")
	}
	mean, components := again.Parts()
	if !slices.Equal(mean, parts.Mean) || !slices.EqualFunc(components, parts.Components, slices.Equal[[]float64]) {
		t.Errorf("got mean %v and components %v", mean, components)
	}
	x, a, b := randomPicture(rand.New(rand.NewPCG(7, 8))), make([]float64, 6), make([]float64, 6)
	n.Apply(a, x)
	again.Apply(b, x)
	if !slices.Equal(a, b) || again.Classes() != 5 || again.Class(a) != n.Class(a) {
		t.Errorf("got %v and %v", a, b)
	}
}

func TestNetworkRefuses(t *testing.T) {
	good, _, _ := randomParts(t, [3]int{1, 2, 3}, 4, 3)
	for want, spoil := range map[string]func(p *features.NetworkParts){
		"channels[1]":      func(p *features.NetworkParts) { p.Channels[1] = 257 },
		"channels[2]":      func(p *features.NetworkParts) { p.Channels[2] = 0 },
		"width":            func(p *features.NetworkParts) { p.Width = 1 << 20 },
		"components":       func(p *features.NetworkParts) { p.Components = make([][]float64, 5) },
		"classes":          func(p *features.NetworkParts) { p.HeadBias = p.HeadBias[:1] },
		"part 1":           func(p *features.NetworkParts) { p.Weights = p.Weights[1:] },
		"part 2":           func(p *features.NetworkParts) { p.Mean = nil },
		"part 3":           func(p *features.NetworkParts) { p.Components = [][]float64{{1}} },
		"part 3, number 1": func(p *features.NetworkParts) { p.Head = slices.Clone(p.Head); p.Head[1] = 1e6 },
		"part 4, number 2": func(p *features.NetworkParts) { p.HeadBias = []float64{0, 0, math.NaN()} },
	} {
		p := good
		spoil(&p)
		var wrong *fl.ParamError
		if n, err := features.NewNetwork(p); n != nil || !errors.As(err, &wrong) || wrong.Param != want {
			t.Errorf("%v, want an error for %s", err, want)
		}
	}
}

func TestNetworkFileErrors(t *testing.T) {
	parts, _, _ := randomParts(t, [3]int{1, 1, 1}, 1, 2)
	var file bytes.Buffer
	if _, err := mustNetwork(t, parts).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	with := func(at int, b byte) []byte {
		out := bytes.Clone(file.Bytes())
		out[at] = b
		return out
	}
	for name, b := range map[string][]byte{
		"empty": nil, "short head": file.Bytes()[:19], "short": file.Bytes()[:file.Len()-1], "long": append(bytes.Clone(file.Bytes()), 0),
		"magic": with(7, '2'), "no channels": with(8, 0), "other width": with(14, 2), "many classes": with(19, 2),
		"infinity": with(file.Len()-1, 0x7c),
	} {
		if n, err := features.ReadNetwork(bytes.NewReader(b)); n != nil || err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReadNetwork(f *testing.F) {
	parts, _, _ := randomParts(f, [3]int{1, 2, 1}, 3, 2)
	parts.Components = [][]float64{{1, 0, 0}}
	var file bytes.Buffer
	if _, err := mustNetwork(f, parts).WriteTo(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := features.ReadNetwork(bytes.NewReader(b))
		if (n == nil) == (err == nil) {
			t.Fatalf("%v and %v", n, err)
		}
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := n.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Fatalf("written as other bytes: %v", err)
		}
		vector := make([]float64, n.Dim())
		n.Apply(vector, make([]float64, n.Inputs()))
		if class := n.Class(vector); class < 0 || class >= n.Classes() {
			t.Fatalf("class %d of %d", class, n.Classes())
		}
	})
}

func TestNetworkPanicsOnOtherLengths(t *testing.T) {
	parts, _, _ := randomParts(t, [3]int{1, 1, 1}, 2, 2)
	n := mustNetwork(t, parts)
	for _, c := range [][2]int{{2, pixels - 1}, {1, pixels}, {3, pixels}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", c)
				}
			}()
			n.Apply(make([]float64, c[0]), make([]float64, c[1]))
		}()
	}
}

func TestNetworkDoesNotAllocate(t *testing.T) {
	if race {
		t.Skip("under the race detector a sync.Pool forgets at random")
	}
	parts, _, _ := randomParts(t, [3]int{8, 16, 32}, 64, 62)
	n := mustNetwork(t, parts)
	x, vector := randomPicture(rand.New(rand.NewPCG(9, 9))), make([]float64, 64)
	if got := testing.AllocsPerRun(100, func() { n.Apply(vector, x) }); got >= 1 {
		t.Errorf("%g allocations a picture", got)
	}
}

func BenchmarkNetwork(b *testing.B) {
	for _, c := range [][4]int{{8, 16, 32, 64}, {16, 32, 64, 128}} {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			parts, _, _ := randomParts(b, [3]int(c[:3]), c[3], 62)
			n := mustNetwork(b, parts)
			x, vector := randomPicture(rand.New(rand.NewPCG(9, 9))), make([]float64, c[3])
			for b.Loop() {
				n.Apply(vector, x)
			}
		})
	}
}

package trainer

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
)

func TestNewModel(t *testing.T) {
	if got, want := ModelNames(), []string{"cnn", "mlp", "softmax"}; !slices.Equal(got, want) {
		t.Fatalf("names: got %q, want %q", got, want)
	}
	in := Input{Channels: 1, Height: 28, Width: 28}
	for name, want := range map[string]int{"softmax": 7850, "mlp": 25450, "cnn": 5386} {
		if m := must[*Model](t)(NewModel(name, in, 10)); m.Dim() != want {
			t.Errorf("%s: got %d parameters, want %d", name, m.Dim(), want)
		}
	}
	_, err := NewModel("resnet", in, 10)
	refuses(t, err, `trainer: model: got "resnet", rule: must be one of cnn, mlp, softmax`)
}

func TestLayout(t *testing.T) {
	in := Input{Channels: 2, Height: 12, Width: 10}
	for _, c := range []struct {
		model *Model
		want  []Param
	}{
		{must[*Model](t)(NewSoftmax(in, 3)), []Param{
			{"linear.weight", []int{240, 3}, 0}, {"linear.bias", []int{3}, 720}}},
		{must[*Model](t)(NewMLP(in, 3, 5)), []Param{
			{"hidden.weight", []int{240, 5}, 0}, {"hidden.bias", []int{5}, 1200},
			{"output.weight", []int{5, 3}, 1205}, {"output.bias", []int{3}, 1220}}},
		{must[*Model](t)(NewCNN(in, 3, 4, 6)), []Param{
			{"conv1.weight", []int{2, 5, 5, 4}, 0}, {"conv1.bias", []int{4}, 200},
			{"conv2.weight", []int{4, 3, 3, 6}, 204}, {"conv2.bias", []int{6}, 420},
			{"output.weight", []int{6, 3}, 426}, {"output.bias", []int{3}, 444}}},
		{must[*Model](t)(NewEmbedder(Input{Channels: 2, Height: 30, Width: 15}, 3, [3]int{4, 6, 5}, 7)), []Param{
			{"conv1.weight", []int{2, 5, 5, 4}, 0}, {"conv1.bias", []int{4}, 200},
			{"conv2.weight", []int{4, 3, 3, 6}, 204}, {"conv2.bias", []int{6}, 420},
			{"conv3.weight", []int{6, 3, 3, 5}, 426}, {"conv3.bias", []int{5}, 696},
			{"embed.weight", []int{20, 7}, 701}, {"embed.bias", []int{7}, 841},
			{"output.weight", []int{7, 3}, 848}, {"output.bias", []int{3}, 869}}},
	} {
		got := c.model.Layout()
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
		if last := got[len(got)-1]; c.model.Dim() != last.Offset+last.Size() {
			t.Errorf("Dim: got %d, layout ends at %d", c.model.Dim(), last.Offset+last.Size())
		}
		got[0].Shape[0] = -1
		if c.model.Layout()[0].Shape[0] == -1 {
			t.Error("Layout hands out the model's own shapes")
		}
	}
}

func TestModelErrors(t *testing.T) {
	in := Input{1, 28, 28}
	for _, c := range []struct {
		build func() (*Model, error)
		want  string
	}{
		{func() (*Model, error) { return NewSoftmax(Input{0, 28, 28}, 10) }, "trainer: input: got {0 28 28}"},
		{func() (*Model, error) { return NewMLP(Input{1, -1, 28}, 10, 3) }, "trainer: input: got {1 -1 28}"},
		{func() (*Model, error) { return NewCNN(Input{1, 28, 0}, 10, 3, 3) }, "trainer: input: got {1 28 0}"},
		{func() (*Model, error) { return NewSoftmax(Input{math.MaxInt, 3, 3}, 10) }, "trainer: input: got [9223372036854775807 3 3]"},
		{func() (*Model, error) { return NewSoftmax(in, 1) }, "trainer: classes: got 1, rule: must be in [2, "},
		{func() (*Model, error) { return NewSoftmax(in, maxValues+1) }, "trainer: classes: got 268435457"},
		{func() (*Model, error) { return NewSoftmax(in, maxValues/784+1) }, "trainer: linear.weight: got [784 342393]"},
		{func() (*Model, error) { return NewSoftmax(Input{1, 1, 1}, maxValues) }, "trainer: linear: got 536870912, rule: must leave at most 268435456 parameters"},
		{func() (*Model, error) { return NewMLP(in, 10, 0) }, "trainer: hidden: got 0, rule: must be at least 1"},
		{func() (*Model, error) { return NewMLP(in, 10, math.MaxInt) }, "trainer: hidden.weight: got [784 9223372036854775807]"},
		{func() (*Model, error) { return NewMLP(Input{1, 1, 1}, 1<<14, 1<<14) }, "trainer: output: got"},
		{func() (*Model, error) { return NewCNN(Input{1, 9, 28}, 10, 3, 3) }, "trainer: input: got {1 9 28}, rule: must be at least 10"},
		{func() (*Model, error) { return NewCNN(Input{1, 28, 9}, 10, 3, 3) }, "trainer: input: got {1 28 9}, rule: must be at least 10"},
		{func() (*Model, error) { return NewCNN(in, 10, 0, 3) }, "trainer: first: got 0, rule: must be at least 1"},
		{func() (*Model, error) { return NewCNN(in, 10, 3, 0) }, "trainer: second: got 0, rule: must be at least 1"},
		{func() (*Model, error) { return NewCNN(Input{1, 2000, 2000}, 10, 1, 2000) }, "trainer: output.weight: got [2000 498 498]"},
		{func() (*Model, error) { return NewEmbedder(Input{1, 14, 28}, 10, [3]int{1, 1, 1}, 1) }, "trainer: input: got {1 14 28}, rule: must be at least 15"},
		{func() (*Model, error) { return NewEmbedder(Input{1, 28, 14}, 10, [3]int{1, 1, 1}, 1) }, "trainer: input: got {1 28 14}, rule: must be at least 15"},
		{func() (*Model, error) { return NewEmbedder(in, 10, [3]int{1, 0, 1}, 1) }, "trainer: channels: got [1 0 1], rule: must be at least 1 each"},
		{func() (*Model, error) { return NewEmbedder(in, 10, [3]int{1, 1, 1}, 0) }, "trainer: width: got 0, rule: must be at least 1"},
		{func() (*Model, error) { return NewEmbedder(Input{1, 1 << 13, 1 << 13}, 2, [3]int{1, 1, 1}, 1) }, "trainer: values of a layer: got [4096 4096 1 25]"},
		{func() (*Model, error) { return NewEmbedder(Input{1, 4000, 4000}, 2, [3]int{1, 1, 1 << 12}, 1) }, "trainer: embed.weight: got [4096 "},
		{func() (*Model, error) { return NewCNN(Input{1, 200, 200}, 2000, 1, 100) }, "trainer: output.weight: got [230400 2000]"},
		{func() (*Model, error) { return NewCNN(Input{1, 1 << 12, 1 << 12}, 2, 1, 1) }, "trainer: values of a layer: got [4092 4092 1 25]"},
	} {
		m, err := c.build()
		if refuses(t, err, c.want); m != nil {
			t.Errorf("%s: got a model", c.want)
		}
	}
	m := must[*Model](t)(NewSoftmax(in, 10))
	for _, batch := range []int{-1, 0, maxValues/784 + 1} {
		for _, build := range []func() error{
			func() error { _, err := m.NewWorker(batch); return err },
			func() error { _, err := m.NewEvaluator(batch); return err },
			func() error { _, err := m.NewExamples(batch); return err },
		} {
			refuses(t, build(), fmt.Sprintf("trainer: batch: got %d", batch))
		}
	}
}

// The sample variance of n normal variables has relative standard deviation
// √(2/n), their mean has √(1/n) standard deviations. Five of either, in four
// tests, fail with probability 4·6e-7 < 3e-6.
func TestInit(t *testing.T) {
	m := must[*Model](t)(NewMLP(Input{1, 20, 20}, 50, 100))
	p := m.Init(testRand(1))
	if !slices.Equal(p, m.Init(testRand(1))) {
		t.Error("equal generators give different vectors")
	}
	if slices.Equal(p, m.Init(testRand(2))) {
		t.Error("different generators give equal vectors")
	}
	for i, v := range must[*Model](t)(NewSoftmax(Input{1, 3, 3}, 4)).Init(testRand(1)) {
		if v != 0 {
			t.Errorf("softmax: parameter %d starts at %g, want 0", i, v)
		}
	}
	variance := map[string]float64{"hidden.weight": 2. / 400, "output.weight": 1. / 100}
	for _, part := range m.Layout() {
		v, n := p[part.Offset:part.Offset+part.Size()], float64(part.Size())
		var sum, squares float64
		for _, e := range v {
			sum += e
			squares += e * e
		}
		want := variance[part.Name] // zero for a bias
		if math.Abs(sum/n) > 5*math.Sqrt(want/n) {
			t.Errorf("%s: mean %g", part.Name, sum/n)
		}
		if math.Abs(squares/n-want) > 5*want*math.Sqrt(2/n) {
			t.Errorf("%s: variance %g, want %g", part.Name, squares/n, want)
		}
	}
}

package glyph

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// clean is a style without a bend, noise or blur.
func clean() *Style {
	return &Style{Aspect: 1, Size: 20, Gain: 1}
}

// TestDrawCentresAndScales: the centre of mass of the ink is where the style
// puts it, within the 0.1 pixel that curves and rounding to 1/255 cost, and the
// box around it is as large as the style says, within the pixels it cuts.
func TestDrawCentresAndScales(t *testing.T) {
	p := NewPen()
	for d, faces := range mustOutlines(t) {
		for i, o := range faces {
			for _, shift := range []point{{0, 0}, {1.3, -0.8}} {
				s := clean()
				s.DX, s.DY = shift.x, shift.y
				s.Angle, s.Shear, s.Blur = 0.2, 0.1, 0.1
				p.Draw(o, s)
				var mass, mx, my float64
				for at, v := range p.ink {
					mass += v
					mx += v * (float64(at%Side) + 0.5)
					my += v * (float64(at/Side) + 0.5)
				}
				if x, y := mx/mass-14, my/mass-14; math.Hypot(x-shift.x, y-shift.y) > 0.1 {
					t.Errorf("digit %d, face %d: got centre (%.2f, %.2f), want (%.2f, %.2f)", d, i, x, y, shift.x, shift.y)
				}
			}
			p.Draw(o, clean())
			rows, cols := [Side]bool{}, [Side]bool{}
			for at, v := range p.ink {
				if v > 0 {
					rows[at/Side], cols[at%Side] = true, true
				}
			}
			if got := max(span(rows), span(cols)); got < 20 || got > 22 {
				t.Errorf("digit %d, face %d: got a box of %d pixels, want 20 to 22", d, i, got)
			}
		}
	}
}

// span returns the length from the first true to the last.
func span(used [Side]bool) int {
	first, last := slices.Index(used[:], true), Side-1
	for last > first && !used[last] {
		last--
	}
	return last - first + 1
}

// TestDrawIsUpright: the bar of a 7 is above its foot and the bend of a 1 is
// left of its stem, so pictures are neither mirrored nor upside down.
func TestDrawIsUpright(t *testing.T) {
	p := NewPen()
	for i, o := range mustOutlines(t)[7] {
		p.Draw(o, clean())
		width := func(row int) float64 {
			sum := 0.0
			for _, v := range p.ink[row*Side : (row+1)*Side] {
				sum += v
			}
			return sum
		}
		ink := func(c0, c1 int) float64 {
			sum := 0.0
			for at, v := range p.ink {
				if c := at % Side; at/Side >= 18 && c >= c0 && c < c1 {
					sum += v
				}
			}
			return sum
		}
		peak := 0
		for r := range Side {
			if width(r) > width(peak) {
				peak = r
			}
		}
		if peak > 10 {
			t.Errorf("face %d: got the bar of the 7 in row %d, want at most 10", i, peak)
		}
		if left, right := ink(0, 14), ink(14, Side); left <= right {
			t.Errorf("face %d: got ink %.1f left and %.1f right in the foot of the 7, want more left", i, left, right)
		}
	}
}

// TestDrawIgnoresThePictureBefore: a pen carries nothing over.
func TestDrawIgnoresThePictureBefore(t *testing.T) {
	all := mustOutlines(t)
	fresh, used := NewPen(), NewPen()
	used.Draw(all[8][4], clean())
	fresh.Draw(all[1][0], clean())
	used.Draw(all[1][0], clean())
	if fresh.ink != used.ink {
		t.Error("the same digit looks different after another one")
	}
}

// TestGain: ink is multiplied and cut at 1.
func TestGain(t *testing.T) {
	o := newOutline([][]point{box(0, 0, 1, 1)})
	for _, c := range []struct{ gain, want float64 }{{0.5, 0.5}, {1.3, 1}} {
		p := NewPen()
		s := clean()
		s.Gain = c.gain
		p.Draw(o, s)
		if got := p.ink[14*Side+14]; got != c.want {
			t.Errorf("gain %g: got %g, want %g", c.gain, got, c.want)
		}
	}
}

// TestBlurExact: a dot becomes the product of two 3-tap kernels, and at the
// border the outer taps are lost.
func TestBlurExact(t *testing.T) {
	const w = 0.125
	tap := map[int]float64{-1: w, 0: 1 - 2*w, 1: w}
	for _, centre := range [][2]int{{5, 9}, {0, 0}, {27, 3}, {13, 27}} {
		p := NewPen()
		p.ink[centre[0]*Side+centre[1]] = 1
		p.blur(w)
		for r := range Side {
			for c := range Side {
				if got, want := p.ink[r*Side+c], tap[r-centre[0]]*tap[c-centre[1]]; got != want {
					t.Errorf("dot at %v: pixel (%d,%d): got %g, want %g", centre, r, c, got, want)
				}
			}
		}
	}
}

// TestSpoil: no noise and no specks change nothing; noise keeps to the ink and
// has the deviation asked for; specks are as many as asked for at most.
func TestSpoil(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{4}))
	p := NewPen()
	for i := range p.ink {
		p.ink[i] = float64(i%2) / 2
	}
	before := p.ink
	p.Spoil(&Style{}, rng)
	if p.ink != before {
		t.Error("without noise and Specks: the picture changed")
	}
	// 392 inked pixels at 0.5 with relative noise 0.1 have deviation σ = 0.05,
	// and the cuts at 0 and 1 are 10σ away. Repeated 50 times: n = 19600. The
	// mean has deviation σ/√n = 3.6e-4, the sample deviation σ/√(2n) = 2.5e-4,
	// both nearly normal; five of these are passed with probability 5.8e-7 each.
	var sum, sum2, n float64
	for range 50 {
		p.ink = before
		p.Spoil(&Style{Noise: 0.1}, rng)
		for i, v := range p.ink {
			if i%2 == 0 {
				if v != 0 {
					t.Fatalf("noise on paper: got %g at pixel %d, want 0", v, i)
				}
				continue
			}
			n, sum, sum2 = n+1, sum+v, sum2+v*v
		}
	}
	mean := sum / n
	deviation := math.Sqrt(sum2/n - mean*mean)
	if math.Abs(mean-0.5) > 5*0.05/math.Sqrt(n) {
		t.Errorf("Noise: got mean %.5f, want 0.5", mean)
	}
	if math.Abs(deviation-0.05) > 5*0.05/math.Sqrt(2*n) {
		t.Errorf("Noise: got deviation %.5f, want 0.05", deviation)
	}
	for i := range p.ink {
		p.ink[i] = 1
	}
	p.ink[0] = 0
	p.Spoil(&Style{Noise: 10}, rng)
	if lo, hi := slices.Min(p.ink[:]), slices.Max(p.ink[:]); lo != 0 || hi != 1 {
		t.Errorf("strong Noise: got values from %g to %g, want 0 to 1", lo, hi)
	}
	// Five specks on empty paper: at least one (a speck is 0 with probability
	// 2^-53), at most five.
	clear(p.ink[:])
	p.Spoil(&Style{Specks: 5}, rng)
	dots := 0
	for _, v := range p.ink {
		if v < 0 || v >= 1 {
			t.Errorf("Specks: got %g, want a value in [0,1)", v)
		}
		if v > 0 {
			dots++
		}
	}
	if dots < 1 || dots > 5 {
		t.Errorf("Specks: got %d dots, want 1 to 5", dots)
	}
}

func TestDevelopRounds(t *testing.T) {
	p := NewPen()
	p.ink[0], p.ink[1], p.ink[2], p.ink[3] = 1, 0.6/255, 0.4/255, 127.5/255
	dst := make([]uint8, Side*Side)
	p.Develop(dst)
	if want := []uint8{255, 1, 0, 128, 0}; !slices.Equal(dst[:5], want) {
		t.Errorf("got %v, want %v", dst[:5], want)
	}
}

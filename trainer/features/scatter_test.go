package features

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func randomPicture(n int, seed uint64) []float64 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), make([]float64, n)
	for i := range x {
		x[i] = rng.Float64()
	}
	return x
}

// The transforms of the wavelets are the transforms of the formula in pixels, a wave under a Gaussian with
// its mean taken away, summed over the periods: here by the definition of the discrete Fourier transform.
func TestMorletWaveletsInPixels(t *testing.T) {
	const n, periods = 16, 3
	for scale := range scatterScales {
		for _, l := range []int{0, 1, 3, 4} {
			angle, width := math.Pi*float64(l)/8, 0.8*float64(int(1)<<scale)
			sin, cos := math.Sincos(angle)
			wave, envelope := make([]complex128, n*n), make([]complex128, n*n)
			for y := -periods * n; y < periods*n; y++ {
				for x := -periods * n; x < periods*n; x++ {
					along, across := cos*float64(x)+sin*float64(y), cos*float64(y)-sin*float64(x)
					g := math.Exp(-(along*along+.25*across*across)/(2*width*width)) * .5 / (2 * math.Pi * width * width)
					at := (y+periods*n)%n*n + (x+periods*n)%n
					envelope[at] += complex(g, 0)
					wave[at] += complex(g, 0) * cmplx.Exp(complex(0, 3*math.Pi/4/float64(int(1)<<scale)*along))
				}
			}
			var waves, envelopes complex128
			for i := range wave {
				waves, envelopes = waves+wave[i], envelopes+envelope[i]
			}
			got := morlet(scale, angle)
			for _, k := range [][2]int{{0, 0}, {1, 0}, {3, 2}, {6, 0}, {0, 6}, {5, 14}, {8, 8}, {15, 11}} {
				var want complex128
				for y := range n {
					for x := range n {
						psi := wave[y*n+x] - waves/envelopes*envelope[y*n+x]
						want += psi * cmplx.Exp(complex(0, -2*math.Pi*float64(k[0]*x+k[1]*y)/n))
					}
				}
				if v := got(frequency(k[0], n), frequency(k[1], n)); math.Abs(v-real(want)) > 1e-6 || math.Abs(imag(want)) > 1e-6 {
					t.Errorf("scale %d, angle %d, frequency %v: %g, want %g", scale, l, k, v, want)
				}
			}
		}
	}
}

// The filters together conserve at most all energy, at some frequency all of it, and most of it at
// those that digits have.
func TestLittlewoodPaley(t *testing.T) {
	for _, size := range [][2]int{{32, 32}, {12, 20}, {36, 64}} {
		rows, cols := size[0], size[1]
		b, average := newBank(rows, cols), lowpass()
		least, most := math.Inf(1), 0.
		for r := range rows {
			for c := range cols {
				u, v := frequency(c, cols), frequency(r, rows)
				a := average(u, v)
				sum, opposite := a*a, (cols-c)%cols*rows+(rows-r)%rows
				for _, scale := range b {
					for _, wavelet := range scale {
						sum += (wavelet[c*rows+r]*wavelet[c*rows+r] + wavelet[opposite]*wavelet[opposite]) / 2
					}
				}
				most = max(most, sum)
				if math.Hypot(u, v) < 2.5 {
					least = min(least, sum)
				}
			}
		}
		if !(most > 1-1e-9 && most < 1+1e-9) || least < 0.3 {
			t.Errorf("%d×%d: sums in [%g, %g]", rows, cols, least, most)
		}
		for _, scale := range b {
			for l, wavelet := range scale {
				if math.Abs(wavelet[0]) > 1e-12 {
					t.Errorf("wavelet of angle %d has the mean %g", l, wavelet[0])
				}
			}
		}
	}
}

// scattered returns the average, the 16 channels of first order and the 64 of second.
func scattered(f Features, x []float64) (orders [3][]float64) {
	out := apply(f, x)
	n := len(out) / ScatterChannels
	for i := range ScatterChannels {
		order := 2
		switch {
		case i == 0:
			order = 0
		case i > scatterAngles*(scatterAngles+1) || i%(scatterAngles+1) == 1:
			order = 1
		}
		orders[order] = append(orders[order], out[i*n:(i+1)*n]...)
	}
	return orders
}

// A constant picture is its average, and has no edges.
func TestConstantPictures(t *testing.T) {
	f := must[Features](t)(Scatter(28, 20))
	if f.Inputs() != 560 || f.Dim() != 81*35 {
		t.Fatalf("from %d values to %d", f.Inputs(), f.Dim())
	}
	orders := scattered(f, slices.Repeat([]float64{.7}, 560))
	if !near(orders[0], slices.Repeat([]float64{.7}, 35), 1e-12) {
		t.Errorf("order 0: %v", orders[0])
	}
	for i := 1; i < 3; i++ {
		if most := floats.Norm(orders[i], math.Inf(1)); most > 1e-12 || len(orders[i]) != []int{35, 16 * 35, 64 * 35}[i] {
			t.Errorf("order %d: %d values up to %g", i, len(orders[i]), most)
		}
	}
}

// The definition, step by step, with sums over pixels in place of Fourier transforms.
func TestScatterIsItsDefinition(t *testing.T) {
	const rows, cols = 8, 12
	f := must[Features](t)(Scatter(rows, cols))
	x := randomPicture(rows*cols, 3)
	const high, wide = rows + 4, cols + 4
	// The filters in pixels, by the inverse transform.
	pixels := func(transform func(r, c int) float64) []complex128 {
		out := make([]complex128, high*wide)
		for y := range high {
			for x := range wide {
				for r := range high {
					for c := range wide {
						out[y*wide+x] += complex(transform(r, c)/(high*wide), 0) * cmplx.Exp(complex(0, 2*math.Pi*(float64(r*y)/high+float64(c*x)/wide)))
					}
				}
			}
		}
		return out
	}
	convolve := func(a []float64, b []complex128) []complex128 {
		out := make([]complex128, high*wide)
		for y := range high {
			for x := range wide {
				for v := range high {
					for u := range wide {
						out[y*wide+x] += complex(a[v*wide+u], 0) * b[(y-v+high)%high*wide+(x-u+wide)%wide]
					}
				}
			}
		}
		return out
	}
	magnitude := func(a []complex128) (out []float64) {
		for _, v := range a {
			out = append(out, cmplx.Abs(v))
		}
		return out
	}
	b, average := newBank(high, wide), lowpass()
	phi := pixels(func(r, c int) float64 { return average(frequency(c, wide), frequency(r, high)) })
	var want []float64
	add := func(values []float64) {
		smooth := convolve(values, phi)
		for r := 4; r < 4+rows; r += 4 {
			for c := 4; c < 4+cols; c += 4 {
				want = append(want, real(smooth[r*wide+c]))
			}
		}
	}
	mirrored := make([]float64, high*wide)
	for r := range high {
		for c := range wide {
			inside := func(i, n int) int { return max(min(i, 2*n-1-i), -1-i) }
			mirrored[r*wide+c] = x[inside(r-2, rows)*cols+inside(c-2, cols)]
		}
	}
	var wavelets [scatterScales][][]complex128
	for j := range b {
		for _, values := range b[j] {
			wavelets[j] = append(wavelets[j], pixels(func(r, c int) float64 { return values[c*high+r] }))
		}
	}
	add(mirrored)
	for _, psi := range wavelets[0] {
		first := magnitude(convolve(mirrored, psi))
		add(first)
		for _, other := range wavelets[1] {
			add(magnitude(convolve(first, other)))
		}
	}
	for _, psi := range wavelets[1] {
		add(magnitude(convolve(mirrored, psi)))
	}
	// Order 2 is averaged over every second pixel.
	if got := apply(f, x); !near(got, want, 4e-3) {
		for i := range got {
			if math.Abs(got[i]-want[i]) > 4e-3 {
				t.Errorf("value %d is %g, want %g", i, got[i], want[i])
			}
		}
	}
}

// Two vectors are no farther from each other than the mirrored pictures are, and the energy of what
// wavelets see is conserved in two orders but for a small part.
func TestScatterIsAContraction(t *testing.T) {
	f := must[Features](t)(Scatter(28, 28)).(*scatter)
	for seed := range uint64(20) {
		x, y := randomPicture(784, seed), randomPicture(784, seed+100)
		if seed%2 == 1 {
			copy(y, x)
			y[seed*30] += .5 // nearly the same picture
		}
		mx, my := make([]float64, 32*32), make([]float64, 32*32)
		f.mirror(mx, x)
		f.mirror(my, y)
		between := scatterStride * floats.Distance(apply(f, x), apply(f, y), 2)
		if apart := floats.Distance(mx, my, 2); between > 1.05*apart {
			t.Errorf("vectors of pictures that are %g apart are %g apart", apart, between)
		}
	}
}

// Fine lines in the middle, moved by less than the 4 pixels of an average, change their vector by much
// less than their pixels. A line that is turned is seen by other wavelets.
func TestScatterOfMovedPictures(t *testing.T) {
	f := must[Features](t)(Scatter(28, 28))
	lines := func(at float64) []float64 {
		x := make([]float64, 784)
		for r := range 28 {
			for c := range 28 {
				dr, dc := float64(r)-13.5, float64(c)-at
				x[r*28+c] = math.Exp(-(dr*dr+dc*dc)/72) * math.Cos(morletFrequency*dc)
			}
		}
		return x
	}
	relative := func(a, b []float64) float64 { return floats.Distance(a, b, 2) / floats.Norm(a, 2) }
	x := lines(13.5)
	vector := apply(f, x)
	for _, shift := range []float64{.5, 1, 2, 3} {
		moved := lines(13.5 + shift)
		if d, pixels := relative(vector, apply(f, moved)), relative(x, moved); d > .2*shift || d > .5*pixels || d == 0 {
			t.Errorf("moved by %g: the vector changes by %g, the pixels by %g", shift, d, pixels)
		}
	}
	orders := scattered(f, x)
	turned := make([]float64, 784)
	for r := range 28 {
		for c := range 28 {
			turned[c*28+r] = x[r*28+c]
		}
	}
	energy := func(channel []float64) float64 { return floats.Dot(channel, channel) }
	first := func(o [3][]float64, l int) float64 { return energy(o[1][l*49 : (l+1)*49]) }
	if a, b := first(orders, 0), first(orders, 4); a < 4*b {
		t.Errorf("an upright line has %g upright and %g across", a, b)
	}
	if a, b := first(orders, 0), first(scattered(f, turned), 4); math.Abs(a/b-1) > .05 {
		t.Errorf("turned by 90°: %g, and %g in the wavelet 90° away", a, b)
	}
}

func BenchmarkScatter(b *testing.B) {
	f, err := Scatter(28, 28)
	if err != nil {
		b.Fatal(err)
	}
	x, out := randomPicture(784, 1), make([]float64, f.Dim())
	for b.Loop() {
		f.Apply(out, x)
	}
}

package features

import "math"

// Shapes of the filters, in pixels and radians a pixel at scale 0. They are the shapes of the usual
// Morlet wavelets: Bruna and Mallat, "Invariant Scattering Convolution Networks", 2013, and
// Andreux et al., "Kymatio: Scattering Transforms in Python", 2020.
const (
	morletWidth     = 0.8             // standard deviation of the envelope along the wave
	morletFrequency = 3 * math.Pi / 4 // of the wave
	morletSlant     = 4. / scatterAngles
)

// bump is a Gaussian in the plane of frequencies: the transform of one with standard deviation
// width along the angle and width/slant across it. Pixels make frequencies periodic, so it is the
// sum over the neighbouring periods, beyond which it is below 1e-11.
func bump(u, v, width, slant, angle float64) (sum float64) {
	sin, cos := math.Sincos(angle)
	for i := -2; i <= 2; i++ {
		for j := -2; j <= 2; j++ {
			x, y := u+2*math.Pi*float64(i), v+2*math.Pi*float64(j)
			along, across := cos*x+sin*y, (cos*y-sin*x)/slant
			sum += math.Exp(-width * width / 2 * (along*along + across*across))
		}
	}
	return sum
}

// morlet returns the transform of the wavelet of a scale and angle: a wave under a Gaussian, minus
// the multiple of the Gaussian that makes its mean 0. The result is real, because the wavelet at
// −x is the conjugate of that at x.
func morlet(scale int, angle float64) func(u, v float64) float64 {
	width := math.Ldexp(morletWidth, scale)
	sin, cos := math.Sincos(angle)
	at := math.Ldexp(morletFrequency, -scale)
	a, b := at*cos, at*sin
	share := bump(-a, -b, width, morletSlant, angle) / bump(0, 0, width, morletSlant, angle)
	return func(u, v float64) float64 {
		return bump(u-a, v-b, width, morletSlant, angle) - share*bump(u, v, width, morletSlant, angle)
	}
}

// lowpass returns the transform of the Gaussian that averages, of mean 1.
func lowpass() func(u, v float64) float64 {
	width := math.Ldexp(morletWidth, scatterScales-1)
	total := bump(0, 0, width, 1, 0)
	return func(u, v float64) float64 { return bump(u, v, width, 1, 0) / total }
}

// frequency returns the frequency of the index k of n, in (−π, π] radians a pixel.
func frequency(k, n int) float64 {
	if 2*k > n {
		k -= n
	}
	return 2 * math.Pi * float64(k) / float64(n)
}

// bank is the filters of a scattering transform on rows×cols pixels: the transforms of the wavelets
// by scale and angle, each at the frequency of column c and row r at [c·rows+r].
type bank [scatterScales][scatterAngles][]float64

// newBank returns wavelets that conserve at most the energy of a picture, together with the
// Gaussian: for real pictures, |φ̂(ω)|² + ½·Σ(|ψ̂(ω)|² + |ψ̂(−ω)|²) is at most 1 at every frequency,
// and 1 at one (Littlewood–Paley). So the transform is a contraction.
func newBank(rows, cols int) (b bank) {
	at := func(r, c int) int { return (c%cols)*rows + r%rows }
	sum := make([]float64, rows*cols)
	for j := range b {
		for l := range b[j] {
			wavelet, values := morlet(j, math.Pi*float64(l)/scatterAngles), make([]float64, rows*cols)
			for r := range rows {
				for c := range cols {
					v := wavelet(frequency(c, cols), frequency(r, rows))
					values[at(r, c)] = v
					sum[at(r, c)] += v * v / 2
					sum[at(rows-r, cols-c)] += v * v / 2
				}
			}
			b[j][l] = values
		}
	}
	average, gain := lowpass(), math.Inf(1)
	for r := range rows {
		for c := range cols {
			if s := sum[at(r, c)]; s > 1e-9 { // at frequency 0 it is rounding
				v := average(frequency(c, cols), frequency(r, rows))
				gain = min(gain, (1-v*v)/s)
			}
		}
	}
	for j := range b {
		for l := range b[j] {
			for i := range b[j][l] {
				b[j][l][i] *= math.Sqrt(gain)
			}
		}
	}
	return b
}

package walsh

// blockLen is the length up to which a transform is done level by level: 16 KiB
// of 8-byte elements, half of a usual first-level data cache.
const blockLen = 1 << 11

const (
	// farFrom is the row length from which far8 is used. Recent AMD processors
	// find lines of the first-level data cache by a hash of address bits 12 to 27
	// (Lipp et al., Take A Way, ASIA CCS 2020): of eight rows that lie 2^26 bytes
	// or more apart, some evict each other. Rows of 2^23 elements of 8 bytes are
	// the first to do so, and radix8 then measured five to ten times slower.
	farFrom = 1 << 23

	// tileLen is the number of columns far8 copies at a time: 4 KiB in all for
	// 8-byte elements.
	tileLen = 64
)

// block transforms a, whose length is a power of two, level by level: three
// levels in each pass over a, and what remains, one or two, in the last.
//
// Level k pairs the elements whose indices differ in bit k. Every function of
// this package applies the levels to an element in ascending order, which is
// why they all agree to the last bit.
func block[T int64 | float32 | float64](a []T) {
	n := len(a)
	h := 1
	if n >= 8 {
		first8(a)
		h = 8
	}
	for ; 8*h <= n; h *= 8 {
		for i := 0; i < n; i += 8 * h {
			radix8(a[i:i+8*h], h, 0, h)
		}
	}
	switch n / h {
	case 4:
		radix4(a, h)
	case 2:
		radix2(a, h)
	}
}

// first8 does levels 0 to 2, where the eight elements of a butterfly are
// neighbours. len(a) is a multiple of 8.
func first8[T int64 | float32 | float64](a []T) {
	for ; len(a) >= 8; a = a[8:] {
		x := (*[8]T)(a)
		a0, a1 := x[0]+x[1], x[0]-x[1]
		a2, a3 := x[2]+x[3], x[2]-x[3]
		a4, a5 := x[4]+x[5], x[4]-x[5]
		a6, a7 := x[6]+x[7], x[6]-x[7]

		b0, b2 := a0+a2, a0-a2
		b1, b3 := a1+a3, a1-a3
		b4, b6 := a4+a6, a4-a6
		b5, b7 := a5+a7, a5-a7

		x[0], x[4] = b0+b4, b0-b4
		x[1], x[5] = b1+b5, b1-b5
		x[2], x[6] = b2+b6, b2-b6
		x[3], x[7] = b3+b7, b3-b7
	}
}

// radix8 does three levels, with strides h, 2h and 4h, on columns lo to hi of
// the eight rows of length h that make up a.
func radix8[T int64 | float32 | float64](a []T, h, lo, hi int) {
	x0 := a[lo:hi]
	x1 := a[h+lo : h+hi][:len(x0)]
	x2 := a[2*h+lo : 2*h+hi][:len(x0)]
	x3 := a[3*h+lo : 3*h+hi][:len(x0)]
	x4 := a[4*h+lo : 4*h+hi][:len(x0)]
	x5 := a[5*h+lo : 5*h+hi][:len(x0)]
	x6 := a[6*h+lo : 6*h+hi][:len(x0)]
	x7 := a[7*h+lo : 7*h+hi][:len(x0)]
	for j := range x0 {
		a0, a1 := x0[j]+x1[j], x0[j]-x1[j]
		a2, a3 := x2[j]+x3[j], x2[j]-x3[j]
		a4, a5 := x4[j]+x5[j], x4[j]-x5[j]
		a6, a7 := x6[j]+x7[j], x6[j]-x7[j]

		b0, b2 := a0+a2, a0-a2
		b1, b3 := a1+a3, a1-a3
		b4, b6 := a4+a6, a4-a6
		b5, b7 := a5+a7, a5-a7

		x0[j], x4[j] = b0+b4, b0-b4
		x1[j], x5[j] = b1+b5, b1-b5
		x2[j], x6[j] = b2+b6, b2-b6
		x3[j], x7[j] = b3+b7, b3-b7
	}
}

// far8 does what radix8 does, on copies of a few columns at a time. It visits
// the rows one after the other, which pays when they are so far apart that
// lines from several of them cannot stay in the first-level cache together.
func far8[T int64 | float32 | float64](a []T, h, lo, hi int) {
	var tile [8 * tileLen]T
	for ; lo < hi; lo += tileLen {
		w := min(tileLen, hi-lo)
		for k := range 8 {
			copy(tile[k*w:(k+1)*w], a[k*h+lo:])
		}
		radix8(tile[:8*w], w, 0, w)
		for k := range 8 {
			copy(a[k*h+lo:], tile[k*w:(k+1)*w])
		}
	}
}

// combine8 does three levels like radix8, by the faster way for rows of length h.
func combine8[T int64 | float32 | float64](a []T, h, lo, hi int) {
	if h < farFrom {
		radix8(a, h, lo, hi)
	} else {
		far8(a, h, lo, hi)
	}
}

// radix4 does two levels, with strides h and 2h, on a of length 4h.
func radix4[T int64 | float32 | float64](a []T, h int) {
	x0 := a[:h]
	x1 := a[h : 2*h][:len(x0)]
	x2 := a[2*h : 3*h][:len(x0)]
	x3 := a[3*h : 4*h][:len(x0)]
	for j := range x0 {
		a0, a1 := x0[j]+x1[j], x0[j]-x1[j]
		a2, a3 := x2[j]+x3[j], x2[j]-x3[j]
		x0[j], x2[j] = a0+a2, a0-a2
		x1[j], x3[j] = a1+a3, a1-a3
	}
}

// radix2 does one level, with stride h, on a of length 2h.
func radix2[T int64 | float32 | float64](a []T, h int) {
	x0 := a[:h]
	x1 := a[h : 2*h][:len(x0)]
	for j := range x0 {
		x0[j], x1[j] = x0[j]+x1[j], x0[j]-x1[j]
	}
}

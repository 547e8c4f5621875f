package gf2

// transpose exchanges rows and columns of a matrix of 64×64 bits: bit j of word i becomes bit i of
// word j. Squares of bits are exchanged in six steps, each of half the size (Warren, "Hacker's
// Delight", section 7-3). Three steps at a time work on eight words, which stay in registers.
func transpose(a *[64]uint64) {
	for i := range 8 {
		p := (*[57]uint64)(a[i:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[8], p[16], p[24], p[32], p[40], p[48], p[56]
		x0, x4 = exchange(x0, x4, 32, 0x00000000FFFFFFFF)
		x1, x5 = exchange(x1, x5, 32, 0x00000000FFFFFFFF)
		x2, x6 = exchange(x2, x6, 32, 0x00000000FFFFFFFF)
		x3, x7 = exchange(x3, x7, 32, 0x00000000FFFFFFFF)
		x0, x2 = exchange(x0, x2, 16, 0x0000FFFF0000FFFF)
		x1, x3 = exchange(x1, x3, 16, 0x0000FFFF0000FFFF)
		x4, x6 = exchange(x4, x6, 16, 0x0000FFFF0000FFFF)
		x5, x7 = exchange(x5, x7, 16, 0x0000FFFF0000FFFF)
		x0, x1 = exchange(x0, x1, 8, 0x00FF00FF00FF00FF)
		x2, x3 = exchange(x2, x3, 8, 0x00FF00FF00FF00FF)
		x4, x5 = exchange(x4, x5, 8, 0x00FF00FF00FF00FF)
		x6, x7 = exchange(x6, x7, 8, 0x00FF00FF00FF00FF)
		p[0], p[8], p[16], p[24], p[32], p[40], p[48], p[56] = x0, x1, x2, x3, x4, x5, x6, x7
	}
	for i := 0; i < 64; i += 8 {
		p := (*[8]uint64)(a[i:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		x0, x4 = exchange(x0, x4, 4, 0x0F0F0F0F0F0F0F0F)
		x1, x5 = exchange(x1, x5, 4, 0x0F0F0F0F0F0F0F0F)
		x2, x6 = exchange(x2, x6, 4, 0x0F0F0F0F0F0F0F0F)
		x3, x7 = exchange(x3, x7, 4, 0x0F0F0F0F0F0F0F0F)
		x0, x2 = exchange(x0, x2, 2, 0x3333333333333333)
		x1, x3 = exchange(x1, x3, 2, 0x3333333333333333)
		x4, x6 = exchange(x4, x6, 2, 0x3333333333333333)
		x5, x7 = exchange(x5, x7, 2, 0x3333333333333333)
		x0, x1 = exchange(x0, x1, 1, 0x5555555555555555)
		x2, x3 = exchange(x2, x3, 1, 0x5555555555555555)
		x4, x5 = exchange(x4, x5, 1, 0x5555555555555555)
		x6, x7 = exchange(x6, x7, 1, 0x5555555555555555)
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
}

// exchange exchanges the bits of x at mask<<width with the bits of y at mask.
func exchange(x, y uint64, width int, mask uint64) (uint64, uint64) {
	t := (x>>(width&63) ^ y) & mask
	return x ^ t<<(width&63), y ^ t
}

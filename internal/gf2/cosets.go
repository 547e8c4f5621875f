package gf2

import (
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/splitmix"
)

// Batch is the number of maps that Cosets works on at the same time.
const Batch = 64

// Cosets finds the labels that the map of a seed sends to a value, for up to Batch seeds at a time.
// The labels are a coset: a point and a basis of the kernel, 2^(m−k) labels. A Cosets is reused
// without allocating. It is not safe for concurrent use.
//
// All maps of a batch go through Gaussian elimination together. A word holds one bit of each map: a plane
// of 64 bits. One instruction then does the same step for all of them, and no branch depends on what
// was drawn for one.
type Cosets struct {
	expander   *Expander
	states     [Batch]uint64 // of the streams of the seeds
	characters [Batch]uint32
	flips      [Batch]uint32

	rows     [][]uint64 // of the echelon form by pivot: planes of the columns above it, then of the value
	pivots   []uint64   // the maps that have a row with this pivot
	values   []uint64   // planes: bit 0 is the next row's
	accepted [5]uint64  // planes of the number of rows
	row      []uint64   // planes of the row that is drawn, then of its value

	block  [Batch]uint64   // see transpose
	solved [][Batch]uint64 // of each map: point, pivots, and parts of the basis at places
	places []place         // by the highest bit of the vector
	kernel []uint32
}

// place is where the lower bits of a vector are.
type place struct{ word, shift int }

// NewCosets returns a Cosets for the maps of e.
func (e *Expander) NewCosets() *Cosets {
	c := &Cosets{
		expander: e, pivots: make([]uint64, e.m), values: make([]uint64, e.k+1), row: make([]uint64, e.m+1),
		kernel: make([]uint32, 0, e.m-e.k), solved: make([][Batch]uint64, 1),
	}
	next := place{0, 2 * e.m}
	for column := range e.m {
		c.rows = append(c.rows, make([]uint64, e.m-column))
		if e.k == e.m {
			continue // a basis without vectors
		}
		if next.shift+column > 64 {
			next = place{next.word + 1, 0}
			c.solved = append(c.solved, [Batch]uint64{})
		}
		c.places = append(c.places, next)
		next.shift += column
	}
	return c
}

// Solve finds the cosets of the labels that the maps of up to Batch seeds send to values of k bits,
// one for each seed. O(k·m²/Batch) operations for each, and as many draws as Draw.
func (c *Cosets) Solve(seeds, values []uint32) {
	e := c.expander
	values = values[:len(seeds)]
	clear(c.block[len(seeds):])
	for i, seed := range seeds {
		d := e.begin(seed)
		c.states[i], c.characters[i], c.flips[i] = d.state, d.character, d.flip
		c.block[i] = uint64(values[i] ^ d.offset)
	}
	transpose(&c.block)
	copy(c.values, c.block[:e.k])
	clear(c.pivots)
	clear(c.accepted[:])
	for _, row := range c.rows {
		clear(row)
	}
	for missing := c.missing() & (1<<len(seeds) - 1); missing != 0; {
		for each := missing; each != 0; each &= each - 1 {
			i := bits.TrailingZeros64(each) & (Batch - 1)
			c.block[i], c.states[i] = e.candidates(c.states[i])
		}
		transpose(&c.block)
		for last := e.perWord(); last > 0 && missing != 0; last-- {
			copy(c.row, c.block[(last-1)*e.m:last*e.m])
			c.insert(missing)
			missing &= c.missing()
		}
	}
	c.reduce()
	c.place()
}

// perWord is the number of rows in a word of candidates.
func (e *Expander) perWord() int { return 64 / e.m }

// candidates returns the next rows of a stream, the first of them in the highest bits, and where the
// stream goes on.
func (e *Expander) candidates(state uint64) (word, next uint64) {
	m, shift := e.m&63, (64-e.m)&63
	for range e.perWord() {
		state += splitmix.Gamma
		word = word<<m | splitmix.Mix(state)>>shift
	}
	return word, state
}

// missing returns the maps that have fewer than k rows.
func (c *Cosets) missing() uint64 {
	var other uint64
	for i, plane := range c.accepted {
		other |= plane ^ -uint64(c.expander.k>>i&1)
	}
	return other
}

// insert adds c.row to the echelon forms of the maps that miss one, unless it depends on the rows
// before it. The lowest bit that is left of it is its pivot, which no later row has.
func (c *Cosets) insert(maps uint64) {
	c.row[len(c.row)-1] = c.values[0]
	var accepted uint64
	for column, row := range c.rows {
		at := c.row[column] & maps // the maps in which this bit of the row is set
		if at == 0 {
			continue
		}
		rest := c.row[column+1:][:len(row)]
		fresh := at &^ c.pivots[column]
		if fresh == 0 {
			for i, plane := range row {
				rest[i] ^= plane & at
			}
			continue
		}
		for i, plane := range row {
			bit := rest[i]
			rest[i] = bit ^ plane&at // plane is 0 where there is no pivot
			row[i] = plane | bit&fresh
		}
		c.pivots[column] |= fresh
		maps &^= fresh
		accepted |= fresh
	}
	for i, next := range c.values[1:] {
		c.values[i] ^= (c.values[i] ^ next) & accepted
	}
	for i, plane := range c.accepted {
		c.accepted[i], accepted = plane^accepted, plane&accepted
	}
}

// reduce removes the bits at pivots from the rows.
func (c *Cosets) reduce() {
	for column := len(c.rows) - 2; column >= 0; column-- {
		row := c.rows[column]
		for i, above := range c.rows[column+1:] {
			at := row[i] & c.pivots[column+1+i]
			row[i] ^= at
			rest := row[i+1:][:len(above)]
			for j, plane := range above {
				rest[j] ^= plane & at
			}
		}
	}
}

// place writes c.solved. Bit p of a vector whose highest bit is f says whether the row with pivot p
// has bit f.
func (c *Cosets) place() {
	m := c.expander.m
	for column, row := range c.rows {
		c.solved[0][column], c.solved[0][m+column] = row[len(row)-1], c.pivots[column]
	}
	for highest, at := range c.places {
		planes := c.solved[at.word][at.shift:]
		for column, row := range c.rows[:highest] {
			planes[column] = row[highest-1-column]
		}
	}
	for i := range c.solved {
		transpose(&c.solved[i])
	}
}

// Coset returns a point and a basis of coset i of the batch. The highest bit of a vector of the
// basis is in no other of them, and they are in ascending order. The point has none of these bits.
// The basis is valid until the next call.
func (c *Cosets) Coset(i int) (point uint32, kernel []uint32) {
	all := uint64(1)<<c.expander.m - 1
	solved := c.solved[0][i]
	c.kernel = c.kernel[:0]
	for free := ^(solved >> c.expander.m) & all; free != 0; free &= free - 1 {
		highest := bits.TrailingZeros64(free)
		at := c.places[highest]
		c.kernel = append(c.kernel, uint32(c.solved[at.word][i]>>at.shift&(1<<highest-1)|1<<highest))
	}
	return uint32(solved & all), c.kernel
}

// Sign returns the character and the flip of map i of the batch, see Affine.
func (c *Cosets) Sign(i int) (character, flip uint32) { return c.characters[i], c.flips[i] }

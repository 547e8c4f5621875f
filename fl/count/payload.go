package count

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Payload reads the numbers of a snapshot, one after the other. After the first bad number it
// returns zeros, and Round.Finish returns the error: a reader checks nothing itself.
type Payload struct {
	rest []byte
	read int // numbers
	err  error
}

// Refuse makes Round.Finish return a *fl.ParamError, unless there was an error before.
func (p *Payload) Refuse(param string, got any, rule string, args ...any) {
	if p.err == nil {
		p.err = fl.Invalid(param, got, rule, args...)
	}
}

// OK is false after an error.
func (p *Payload) OK() bool { return p.err == nil }

// Reports reads a number of reports, at most fl.MaxReports, as a uvarint.
func (p *Payload) Reports() int64 { return int64(p.Uvarint(fl.MaxReports)) }

// Uvarint reads a number that is at most most.
func (p *Payload) Uvarint(most uint64) uint64 {
	if p.err != nil {
		return 0
	}
	v, n := binary.Uvarint(p.rest)
	return number(p, v, shortest(p.rest, n), v <= most, 0, most)
}

// Varint reads a number in [least, most].
func (p *Payload) Varint(least, most int64) int64 {
	if p.err != nil {
		return 0
	}
	v, n := binary.Varint(p.rest)
	return number(p, v, shortest(p.rest, n), least <= v && v <= most, least, most)
}

// WordReports reads a number of reports, at most fl.MaxReports, as 8 bytes, little-endian.
func (p *Payload) WordReports() int64 {
	v, n := p.word()
	return int64(number(p, v, n, v <= fl.MaxReports, 0, fl.MaxReports))
}

// Float reads a float64 in [−most, most] as 8 bytes, little-endian. most is finite.
func (p *Payload) Float(most float64) float64 {
	bits, n := p.word()
	v := math.Float64frombits(bits)
	return number(p, v, n, math.Abs(v) <= most, -most, most) // NaN is not
}

// Part reads a length as a uvarint and that many bytes.
func (p *Payload) Part() []byte {
	size := p.Uvarint(math.MaxInt64)
	if size > uint64(len(p.rest)) {
		p.Refuse(p.position(), size, "must be at most %d, the bytes that are left", len(p.rest))
		return nil
	}
	part := p.rest[:size]
	p.rest = p.rest[size:]
	return part
}

// Rest takes the bytes that are left.
func (p *Payload) Rest() []byte {
	rest := p.rest
	p.rest = nil
	return rest
}

// word returns the next 8 bytes, and how many there are: 8 or 0.
func (p *Payload) word() (v uint64, n int) {
	if len(p.rest) < 8 {
		return 0, 0
	}
	return binary.LittleEndian.Uint64(p.rest), 8
}

// shortest returns n, the length of the varint at the beginning of b, and 0 when fewer bytes would do: a snapshot has one form.
func shortest(b []byte, n int) int {
	if n > 1 && b[n-1] == 0 {
		return 0
	}
	return n
}

// number takes v, which is n bytes long, when it is good.
func number[T int64 | uint64 | float64](p *Payload, v T, n int, good bool, least, most T) T {
	switch {
	case p.err != nil:
	case n <= 0:
		p.Refuse(p.position(), fmt.Sprintf("% x", p.rest[:min(len(p.rest), binary.MaxVarintLen64)]), "must be a whole number of 64 bits, in the shortest form")
	case !good:
		p.Refuse(p.position(), v, "must be in [%v, %v]", least, most)
	default:
		p.rest = p.rest[n:]
		p.read++
		return v
	}
	return 0
}

// position names the number that is read next.
func (p *Payload) position() string { return fmt.Sprintf("payload[%d]", p.read) }

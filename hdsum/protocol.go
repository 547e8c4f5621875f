package hdsum

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// Protocol names what sums the inputs of one instance.
type Protocol uint8

const (
	// Auto is the protocol with the fewest expected bits per client, messages
	// sent one by one. It depends on public quantities only.
	Auto Protocol = iota
	// GKMPS spreads correlated noise atoms, see package gkmps. For large bounds it
	// rounds the inputs when that is cheaper.
	GKMPS
	// BBGN splits every input into uniform shares, see package bbgn.
	BBGN
)

var protocolNames = []string{Auto: "auto", GKMPS: "gkmps", BBGN: "bbgn"}

func (p Protocol) String() string {
	if int(p) < len(protocolNames) {
		return protocolNames[p]
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

// ParseProtocol returns the Protocol with a name.
func ParseProtocol(name string) (Protocol, error) {
	if i := slices.Index(protocolNames, name); i >= 0 {
		return Protocol(i), nil
	}
	return 0, fmt.Errorf("hdsum: %w", fl.Invalid("base", name, "must be one of auto, gkmps, bbgn"))
}

// noisySum is one sum of inputs in {0, …, U} under one protocol: laws, limits and
// arithmetic, without the number of an instance. gkmpsSum and bbgnSum are all there are.
type noisySum interface {
	protocol() Protocol
	// Clients is the number of clients over which the noise is spread.
	Clients() int
	// Width is the worth of one unit of the sum of messages, above 1 when inputs are
	// rounded.
	Width() int64
	// Noise is the law of the noise in the sum of the messages of exactly Clients
	// clients, in units of Width.
	Noise() sample.DiscreteLaplace
	// Floods lists the noise messages. The layout draws the noise messages of all instances at once.
	Floods() []gkmps.Flood
	// Round returns the integer that stands for an input in the sum of messages. An
	// input outside {0, …, U} is an error.
	Round(x int64, rng *rand.Rand) (int64, error)
	// variance bounds the variance of the decoded sum around the true one: noise of
	// exactly Clients clients, and rounding.
	variance() float64
	// cost of an input 0.
	cost() Cost
	// bits returns the bits of cost. It takes less time than cost.
	bits() float64
	// payload is the number of messages that carry a rounded input.
	payload(rounded int64) int64

	// encode appends one client's payload for the instances at r. An instance without
	// an input has the input 0.
	encode(dst []Message, r run, inputs []input, rng *rand.Rand) ([]Message, error)
	// check returns an error wrapping fl.ErrBadReport unless one client may send m to
	// the instances at r. All of m is addressed to them, in order.
	check(m Multiset, r run) error
	// add adds one client's messages to the sums, which have the places that the messages
	// name.
	add(sums []int64, m Multiset)
	// merge adds sums of the same instances, place by place.
	merge(dst, src []int64)
	// checkSum refuses what is no sum of messages.
	checkSum(sum int64) error
	// decode turns the sum of all messages into the estimate.
	decode(sum int64) float64
}

// run is a range of instances.
type run struct{ first, count int }

func (r run) end() int { return r.first + r.count }

// input is a client's non-zero input to an instance, which is numbered from the first
// of its group.
type input struct {
	group, instance int
	value           int64
}

// Cost is what a client sends, in expectation, for an input of zeros.
type Cost struct {
	Messages float64
	// Bits is the size of the messages when each travels alone, without the
	// number of its instance.
	Bits float64
	// Entries is the number of entries of the multiset they form.
	Entries float64
	// Bytes is about the size of the report that holds the multiset, before zstd.
	Bytes float64
}

func (c Cost) times(k float64) Cost {
	return Cost{Messages: k * c.Messages, Bits: k * c.Bits, Entries: k * c.Entries, Bytes: k * c.Bytes}
}

func (c Cost) plus(o Cost) Cost {
	return Cost{Messages: c.Messages + o.Messages, Bits: c.Bits + o.Bits, Entries: c.Entries + o.Entries, Bytes: c.Bytes + o.Bytes}
}

// Calibration says how much noise of GKMPS is enough. All of them are proved.
type Calibration uint8

const (
	// CalibrationCertified is the default: the constants of CalibrationPublished, without the atoms that no input
	// reaches. Same privacy, 27 % (U = 2) to 3 % (large U) fewer messages.
	CalibrationCertified = Calibration(gkmps.Certified)
	// CalibrationPublished has the constants of the paper's Theorem 2 on every atom.
	CalibrationPublished = Calibration(gkmps.Published)
	// CalibrationTight uses exact tails of the negative binomial law instead of the paper's Theorem 10. Same
	// privacy, about 4 to 9 times fewer messages than CalibrationCertified.
	CalibrationTight = Calibration(gkmps.Tight)
)

func (c Calibration) String() string { return gkmps.Calibration(c).String() }

// ParseCalibration is the inverse of String. It returns a *fl.ParamError that lists the choices for
// any other text.
func ParseCalibration(text string) (Calibration, error) {
	c, err := gkmps.ParseCalibration(text)
	return Calibration(c), err
}

package features

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/x448/float16"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// NetworkParts are the numbers of a Network.
type NetworkParts struct {
	Channels [3]int // of the convolutions, each in [1, 256]
	Width    int    // of the embedding, in [1, 512]
	// Weights are the weights of trainer.NewEmbedder for one channel of 28×28 pixels, in its layout,
	// up to embed.bias.
	Weights []float64
	// Mean is the mean vector of public pictures, and Components are their principal
	// components, at most Width: the directions in which the vectors vary most, first the
	// largest.
	Mean       []float64
	Components [][]float64
	// Head and HeadBias are the linear layer from the embedding to the classes: Width rows of
	// as many values as HeadBias has, 2 to 256.
	Head, HeadBias []float64
}

// The file of a network has this head, the sizes as 16-bit numbers (channels, width, components,
// classes), and then all numbers as IEEE 754 binary16 in the order of NetworkParts, everything
// little-endian. Half precision moves accuracy by less than can be measured.
const networkMagic = "hushnet1"

const (
	networkHead = len(networkMagic) + 6*2
	maxChannels = 256
	maxWidth    = 512
	maxClasses  = 256
)

// sizes are what the head of a file says.
type sizes struct {
	Channels                   [3]uint16
	Width, Components, Classes uint16
}

func (s sizes) validate() error {
	for i, c := range s.Channels {
		if c < 1 || c > maxChannels {
			return fl.Invalid(fmt.Sprintf("channels[%d]", i), c, "must be in [1, %d]", maxChannels)
		}
	}
	switch {
	case s.Width < 1 || s.Width > maxWidth:
		return fl.Invalid("width", s.Width, "must be in [1, %d]", maxWidth)
	case s.Components > s.Width:
		return fl.Invalid("components", s.Components, "must be at most %d", s.Width)
	case s.Classes < 2 || s.Classes > maxClasses:
		return fl.Invalid("classes", s.Classes, "must be in [2, %d]", maxClasses)
	}
	return nil
}

// weights is the number of weights up to the embedding. With the largest sizes it is 3.4
// million.
func (s sizes) weights() int {
	c, w := [3]int{int(s.Channels[0]), int(s.Channels[1]), int(s.Channels[2])}, int(s.Width)
	return (firstKernel*firstKernel+1)*c[0] + (kernel*kernel*c[0]+1)*c[1] + (kernel*kernel*c[1]+1)*c[2] + (thirdSide*thirdSide*c[2]+1)*w
}

// numbers is the number of all numbers of a file.
func (s sizes) numbers() int {
	w := int(s.Width)
	return s.weights() + w*(1+int(s.Components)+int(s.Classes)) + int(s.Classes)
}

// NewNetwork returns the network of parts, each number rounded to half precision, which is
// what WriteTo writes. The error names a part that has the wrong size or a number that is not
// finite in half precision (65504 at most).
func NewNetwork(p NetworkParts) (_ *Network, err error) {
	defer prefix.Error(&err, "features: network")
	s := sizes{Width: clamp(p.Width), Components: clamp(len(p.Components)), Classes: clamp(len(p.HeadBias))}
	for i, c := range p.Channels {
		s.Channels[i] = clamp(c)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	lists := slices.Concat([][]float64{p.Weights, p.Mean}, p.Components, [][]float64{p.Head, p.HeadBias})
	wants := []int{s.weights(), p.Width}
	for range p.Components {
		wants = append(wants, p.Width)
	}
	wants = append(wants, p.Width*len(p.HeadBias), len(p.HeadBias))
	file := bytes.NewBufferString(networkMagic)
	_ = binary.Write(file, binary.LittleEndian, s) // a buffer does not fail
	for i, list := range lists {
		if len(list) != wants[i] {
			return nil, fl.Invalid(fmt.Sprintf("part %d", i+1), len(list), "must have %d numbers", wants[i])
		}
		for j, v := range list {
			half := float16.Fromfloat32(float32(v))
			if !half.IsFinite() {
				return nil, fl.Invalid(fmt.Sprintf("part %d, number %d", i+1, j), v, "must be finite and at most 65504 in magnitude")
			}
			file.Write(binary.LittleEndian.AppendUint16(nil, half.Bits()))
		}
	}
	return parseNetwork(file.Bytes())
}

// clamp keeps a size that is out of range out of range.
func clamp(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }

// ReadNetwork reads what WriteTo wrote, to the end of r. It allocates only what the sizes at
// the start of the file ask for, 8 MB at most, and only after they are checked. The error says
// what is wrong with the file.
func ReadNetwork(r io.Reader) (_ *Network, err error) {
	defer prefix.Error(&err, "features: network")
	head := make([]byte, networkHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("the first %d bytes: %w", networkHead, err)
	}
	s, err := parseHead(head)
	if err != nil {
		return nil, err
	}
	// One byte more than there may be shows whether there is more.
	rest, err := io.ReadAll(io.LimitReader(r, int64(2*s.numbers()+1)))
	if err != nil {
		return nil, err
	}
	return parseNetwork(append(head, rest...))
}

// parseHead reads and checks the sizes.
func parseHead(file []byte) (s sizes, err error) {
	if len(file) < networkHead || string(file[:len(networkMagic)]) != networkMagic {
		return s, fl.Invalid("file", string(file[:min(len(file), len(networkMagic))]), "must begin with %q and sizes", networkMagic)
	}
	_ = binary.Read(bytes.NewReader(file[len(networkMagic):]), binary.LittleEndian, &s) // all bytes are there
	return s, s.validate()
}

func parseNetwork(file []byte) (*Network, error) {
	s, err := parseHead(file)
	if err != nil {
		return nil, err
	}
	if want := networkHead + 2*s.numbers(); len(file) != want {
		return nil, fl.Invalid("file", fmt.Sprintf("%d bytes", len(file)), "must have %d for its sizes", want)
	}
	values, err := halves(file[networkHead:], s.numbers())
	if err != nil {
		return nil, err
	}
	take := func(n int) []float64 {
		part := values[:n:n]
		values = values[n:]
		return part
	}
	width, classes := int(s.Width), int(s.Classes)
	p := NetworkParts{Channels: [3]int{int(s.Channels[0]), int(s.Channels[1]), int(s.Channels[2])}, Width: width}
	p.Weights, p.Mean = take(s.weights()), take(width)
	for range s.Components {
		p.Components = append(p.Components, take(width))
	}
	p.Head, p.HeadBias = take(width*classes), take(classes)
	return newNetwork(p, file), nil
}

// halves reads a number of finite numbers of half precision, which are all that b holds.
func halves(b []byte, n int) ([]float64, error) {
	if len(b) != 2*n {
		return nil, fl.Invalid("file", fmt.Sprintf("%d bytes", len(b)), "must have %d", 2*n)
	}
	values := make([]float64, n)
	for i := range values {
		half := float16.Frombits(binary.LittleEndian.Uint16(b[2*i:]))
		if !half.IsFinite() {
			return nil, fl.Invalid(fmt.Sprintf("number %d", i), half, "must be finite")
		}
		values[i] = float64(half.Float32())
	}
	return values, nil
}

// WriteTo writes the network's file, whose SHA-256 is the digest.
func (n *Network) WriteTo(w io.Writer) (int64, error) {
	written, err := w.Write(n.file)
	if err != nil {
		err = fmt.Errorf("features: network: %w", err)
	}
	return int64(written), err
}

package features

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
)

// Shapes of a Network. A picture has 28×28 pixels and a frame of zeros, two pixels wide. Each
// convolution and the pooling leave a square of positions, with these sides.
const (
	networkSide   = 28
	networkPad    = 2
	networkFramed = networkSide + 2*networkPad
	firstKernel   = 5
	firstStride   = 2
	kernel        = 3
	firstSide     = (networkFramed-firstKernel)/firstStride + 1
	secondSide    = firstSide - kernel + 1
	pooledSide    = secondSide / 2
	thirdSide     = pooledSide - kernel + 1
)

// Network is a small convolutional network with fixed weights: the layers of
// trainer.NewEmbedder up to the embedding, computed without a graph in 32-bit arithmetic.
// A picture has 28×28 values in [0, 1], 0 for paper and 1 for ink. It is immutable.
//
// A Network also holds the classes that it was trained on, so that it can say how well it
// does without anybody's data.
type Network struct {
	parts  NetworkParts
	file   []byte
	digest [32]byte
	// Weights are stored for values whose channel runs fastest: (row, column, channel).
	convs  [3]blas32.General
	biases [3][]float32
	embed  blas32.General
	bias   []float32
	pool   sync.Pool // *workspace
}

var _ Features = (*Network)(nil)

// workspace holds what one picture needs.
type workspace struct {
	framed, first, second, pooled, third, patches, embedding []float32
}

// newNetwork returns the network of parts that are valid, with its file. It rearranges their
// weights.
func newNetwork(p NetworkParts, file []byte) *Network {
	n := &Network{parts: p, file: file, digest: sha256.Sum256(file)}
	weights := p.Weights
	take := func(count int) []float64 {
		w := weights[:count]
		weights = weights[count:]
		return w
	}
	inputs := 1
	for i, outputs := range p.Channels {
		side := kernel
		if i == 0 {
			side = firstKernel
		}
		n.convs[i] = channelsLast(take(inputs*side*side*outputs), inputs, side*side, outputs)
		n.biases[i] = narrow(take(outputs))
		inputs = outputs
	}
	n.embed = channelsLast(take(inputs*thirdSide*thirdSide*p.Width), inputs, thirdSide*thirdSide, p.Width)
	n.bias = narrow(take(p.Width))
	n.pool.New = func() any {
		c := p.Channels
		return &workspace{
			framed:    make([]float32, networkFramed*networkFramed),
			first:     make([]float32, firstSide*firstSide*c[0]),
			second:    make([]float32, secondSide*secondSide*c[1]),
			pooled:    make([]float32, pooledSide*pooledSide*c[1]),
			third:     make([]float32, thirdSide*thirdSide*c[2]),
			patches:   make([]float32, max(firstSide*firstKernel*firstKernel, secondSide*kernel*kernel*c[0], thirdSide*kernel*kernel*c[1])),
			embedding: make([]float32, p.Width),
		}
	}
	return n
}

// channelsLast returns the matrix of a layer whose inputs are (channel, place), with its rows
// in the order (place, channel).
func channelsLast(w []float64, channels, places, outputs int) blas32.General {
	m := blas32.General{Rows: channels * places, Cols: outputs, Stride: outputs, Data: make([]float32, len(w))}
	for c := range channels {
		for at := range places {
			to := m.Data[(at*channels+c)*outputs:][:outputs]
			for o := range to {
				to[o] = float32(w[(c*places+at)*outputs+o])
			}
		}
	}
	return m
}

func narrow(w []float64) []float32 {
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = float32(v)
	}
	return out
}

// Inputs is 784.
func (n *Network) Inputs() int { return networkSide * networkSide }

// Dim is the width of the embedding.
func (n *Network) Dim() int { return n.parts.Width }

// Apply is what the interface says. It does not allocate; with 8, 16 and 32 channels it takes
// 0.3 million multiplications.
func (n *Network) Apply(dst, x []float64) {
	check(n, dst, x)
	w := n.pool.Get().(*workspace)
	defer n.pool.Put(w)
	for r := range networkSide {
		to := w.framed[(r+networkPad)*networkFramed+networkPad:]
		for c, v := range x[r*networkSide : (r+1)*networkSide] {
			to[c] = float32(v)
		}
	}
	n.convolve(0, w.first, w.framed, firstKernel, firstStride, networkFramed, w.patches)
	n.convolve(1, w.second, w.first, kernel, 1, firstSide, w.patches)
	maxPool(w.pooled, w.second, secondSide, n.parts.Channels[1])
	n.convolve(2, w.third, w.pooled, kernel, 1, pooledSide, w.patches)
	affine(w.embedding, w.third, 1, n.embed, n.bias)
	for i, v := range w.embedding {
		dst[i] = float64(v)
	}
}

// convolve computes convolution i with its ReLU from a square of side² positions, one row of
// results at a time.
func (n *Network) convolve(i int, dst, src []float32, kernel, stride, side int, patches []float32) {
	m := n.convs[i]
	channels := m.Rows / (kernel * kernel)
	results := (side-kernel)/stride + 1
	for r := range results {
		to := patches
		for c := range results {
			for k := range kernel {
				from := ((r*stride+k)*side + c*stride) * channels
				to = to[copy(to, src[from:from+kernel*channels]):]
			}
		}
		affine(dst[r*results*m.Cols:(r+1)*results*m.Cols], patches, results, m, n.biases[i])
	}
	for at, v := range dst {
		dst[at] = max(0, v)
	}
}

// affine writes x·m + bias for a matrix x with the given number of rows.
func affine(dst, x []float32, rows int, m blas32.General, bias []float32) {
	for r := range rows {
		copy(dst[r*m.Cols:], bias)
	}
	a := blas32.General{Rows: rows, Cols: m.Rows, Stride: m.Rows, Data: x[:rows*m.Rows]}
	c := blas32.General{Rows: rows, Cols: m.Cols, Stride: m.Cols, Data: dst[:rows*m.Cols]}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, m, 1, c)
}

// maxPool keeps the largest value of each 2×2 square.
func maxPool(dst, src []float32, side, channels int) {
	for r := range side / 2 {
		for c := range side / 2 {
			a := src[(2*r*side+2*c)*channels:][:2*channels]
			b := src[((2*r+1)*side+2*c)*channels:][:2*channels]
			to := dst[(r*(side/2)+c)*channels:][:channels]
			for k := range to {
				to[k] = max(a[k], a[channels+k], b[k], b[channels+k])
			}
		}
	}
}

// Classes is the number of classes that Class knows.
func (n *Network) Classes() int { return len(n.parts.HeadBias) }

// Class returns the class that the network, as it was trained, gives to the vector of an
// example: what Apply wrote.
func (n *Network) Class(vector []float64) int {
	classes := len(n.parts.HeadBias)
	logits := append(make([]float64, 0, classes), n.parts.HeadBias...)
	for j, v := range vector {
		floats.AddScaled(logits, v, n.parts.Head[j*classes:(j+1)*classes])
	}
	return floats.MaxIdx(logits)
}

// Parts are the public mean and the public components of the network's vectors, for a
// Pipeline.
func (n *Network) Parts() (mean []float64, components [][]float64) {
	return n.parts.Mean, n.parts.Components
}

// Digest is the SHA-256 of the network's file.
func (n *Network) Digest() [32]byte { return n.digest }

// String names the network by its sizes.
func (n *Network) String() string {
	c := n.parts.Channels
	return fmt.Sprintf("glyph network %d-%d-%d-%d", c[0], c[1], c[2], n.parts.Width)
}

package training

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/privacy"
)

// anchor is an accuracy on MNIST's test pictures that others report, at a central ε.
type anchor struct {
	source         string
	accuracy       float64
	epsilon, delta float64
	// addRemove says that the guarantee is for Gaussian noise when one client is added or removed.
	// It is drawn at its ε for replacing one. Another guarantee is drawn at its own ε.
	addRemove bool
}

// anchors are what the texts and repositories say.
var anchors = []anchor{
	// Girgis, Data, Diggavi, Kairouz and Suresh, Shuffled Model of Differential Privacy in
	// Federated Learning, AISTATS 2021: 60 000 clients with one picture, compressed reports, no
	// public data.
	{source: "Girgis et al. 2021, shuffled reports", accuracy: 0.767, epsilon: 5, delta: 1e-5},
	{source: "Girgis et al. 2021, shuffled reports", accuracy: 0.879, epsilon: 10, delta: 1e-5},
	// Tramèr and Boneh, Differentially Private Learning Needs Better Features (or Much More
	// Data), ICLR 2021: DP-SGD on scattering features.
	{source: "Tramèr, Boneh 2021, trusted server", accuracy: 0.987, epsilon: 3, delta: 1e-5, addRemove: true},
	// The tutorial on MNIST of the library TensorFlow Privacy: DP-SGD.
	{source: "TF Privacy tutorial, trusted server", accuracy: 0.950, epsilon: 1.2, delta: 1e-5, addRemove: true},
	{source: "TF Privacy tutorial, trusted server", accuracy: 0.966, epsilon: 2.9, delta: 1e-5, addRemove: true},
}

// anchorsNote says what the anchors are compared by.
const anchorsNote = "Stars are what others report for MNIST. Compare them with features without public pretraining. Girgis et al. 2021: shuffled reports of 60 000 clients with one picture each, no public data; their ε is at δ = 1e-5, and is left as it is. " +
	"Tramèr, Boneh 2021 (scattering features, ε = 3) and the tutorial of TensorFlow Privacy (ε = 1.2 and 2.9) trust a server with the pictures, at δ = 1e-5 and for adding or removing one of them. " +
	"Their ε here are those for replacing one, at the δ of this run. They are converted as if their noise were Gaussian and without sampling, which is nearly so. " +
	"FLAME (Liu et al. 2021) reports no accuracy in these terms: 1.5 points below no privacy at ε = 4.7, δ = 1e-5, with 6000 clients of ten pictures each."

// anchorsFor returns the anchors with their ε for replacing one client at the δ of the sweep: none
// for other data than MNIST's test pictures, and for clients with several of the training pictures.
func (s sweep) anchorsFor(ctx context.Context, data *dataset.Data) ([]anchor, error) {
	if !s.comparable(data.Train) || !isMNIST(data.Test) {
		return nil, nil
	}
	return s.converted(ctx)
}

// converted returns all anchors with their ε for replacing one client at the δ of the sweep.
func (s sweep) converted(ctx context.Context) (out []anchor, err error) {
	for _, a := range anchors {
		if a.addRemove {
			epsilon, err := replaceOne(ctx, a.epsilon, a.delta, s.delta)
			if err != nil {
				return nil, err
			}
			a.epsilon, a.delta, a.addRemove = epsilon, s.delta, false
		}
		out = append(out, a)
	}
	return out, nil
}

// comparable reports whether the sweep does what the anchors are of: one training picture for each client, and the test pictures.
func (s sweep) comparable(train *dataset.Set) bool {
	return s.anchors && !s.heldOut && s.single(train)
}

// single reports whether every client has one picture, as in what the anchors guarantee.
func (s sweep) single(train *dataset.Set) bool { return s.clients == 0 || s.clients == train.Len() }

// labelsOfMNIST is labelsOf for MNIST's test pictures.
const labelsOfMNIST = "d14ba0a1a3818edefa35518ed001ece84b7ac0eabe9394551c73928493175d3f"

// isMNIST reports whether these are MNIST's test pictures and no other set in the same format, by their labels.
func isMNIST(test *dataset.Set) bool { return labelsOf(test) == labelsOfMNIST }

// labelsOf is the SHA-256 of the labels of the first 1000 pictures, a byte each.
func labelsOf(test *dataset.Set) string {
	var labels []byte
	for _, label := range test.Labels[:min(1000, test.Len())] {
		labels = append(labels, byte(label))
	}
	sum := sha256.Sum256(labels)
	return hex.EncodeToString(sum[:])
}

// replaceOne returns the ε at δ to for replacing one client, of Gaussian noise that is (ε, δ from)-
// differentially private for adding or removing one. The same noise then has twice the sensitivity.
func replaceOne(ctx context.Context, epsilon, from, to float64) (float64, error) {
	// The multiplier is for replacing one: half of it is for adding or removing one, in units of the
	// sensitivity, and a quarter is that for replacing one.
	g, err := central.New(epsilon, from, 1, 1)
	if err != nil {
		return 0, err
	}
	loss, err := privacy.Gaussian(ctx, g.Multiplier/4, privacy.Options{})
	if err != nil {
		return 0, err
	}
	bounds, err := loss.Epsilon(ctx, to)
	return bounds.Upper, err
}

package features

import (
	"bytes"
	_ "embed" // for the weights
)

// A program that does not call ClothNetwork does not hold them.
//
//go:embed weights/cloth.hushnet
var clothWeights []byte

// ClothNetwork returns the network of the module that was trained on pictures of clothes, shoes and bags, and of cloth alone, all drawn by a law. Its
// classes are the ten kinds of clothes, shoes and bags.
func ClothNetwork() (*Network, error) { return ReadNetwork(bytes.NewReader(clothWeights)) }

// Cloth returns the features of the cloth network for pictures of 28×28 values in [0, 1]: its vector of 128 values minus a public mean, along public
// principal components, with norm 1/0.3. Pictures with texture are what they are for.
func Cloth() (*Pipeline, error) {
	n, err := ClothNetwork()
	if err != nil {
		return nil, err
	}
	return networkPipeline(n)
}

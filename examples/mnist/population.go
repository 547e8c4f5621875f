package main

import (
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
)

// population is who holds which training images: client i has the images
// order[i·share … (i+1)·share), and round r asks the clients r·cohort … up, from the
// first one again when all have been asked.
type population struct {
	images *dataset.Set
	order  []int
	share  int
	cohort int
	epoch  int // rounds in which every client is asked once
}

func newPopulation(c config, images *dataset.Set) (*population, error) {
	share := images.Len() / c.clients
	if share < 1 {
		return nil, fl.Invalid("-clients", c.clients, "must be at most the number of training images, %d", images.Len())
	}
	return &population{
		images: images,
		order:  c.stream(forAssignment, 0).Perm(images.Len()),
		share:  share,
		cohort: c.cohort,
		epoch:  c.clients / c.cohort,
	}, nil
}

// examples appends the images and labels of a client to x and y.
func (p *population) examples(client int, x [][]float64, y []int) ([][]float64, []int) {
	for _, i := range p.order[client*p.share : (client+1)*p.share] {
		x, y = append(x, p.images.Image(i)), append(y, p.images.Labels[i])
	}
	return x, y
}

// members returns the clients of a round, from first up to but without last.
func (p *population) members(round int) (first, last int) {
	round %= p.epoch
	return round * p.cohort, (round + 1) * p.cohort
}

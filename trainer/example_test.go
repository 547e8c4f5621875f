package trainer_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/trainer"
)

// A model is trained under local differential privacy, without a server: 2000 clients
// hold one example each, and all of them send one report of ε = 4 in each of three rounds.
func ExampleRun() {
	rng := rand.New(rand.NewPCG(1, 2)) // seeded because this is an example: use fl.NewRand
	var x [][]float64
	var labels []int
	for i := range 2000 { // the class is the side of the brighter pixel
		x = append(x, []float64{rng.Float64(), rng.Float64()})
		labels = append(labels, 0)
		if x[i][1] > x[i][0] {
			labels[i] = 1
		}
	}
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: 2}, 2)
	if err != nil {
		log.Fatal(err)
	}
	clients, err := trainer.NewClients(x, labels, 2000, rng)
	if err != nil {
		log.Fatal(err)
	}
	gradients, err := clients.On(model, true)
	if err != nil {
		log.Fatal(err)
	}
	rounds, err := trainer.NewSimulation(trainer.SimulationConfig{
		Gradients: gradients, Cohort: 2000, Rand: rng,
		Describe: func(round int) fl.Round {
			return fl.Round{
				ID: fmt.Sprint(round), Mechanism: coco.Name, Dim: model.Dim(), Scale: 0.5, Epsilon: 4, Relation: fl.ReplaceOne,
				MinReports: 2000, Params: fl.Params{sparse.ParamSparsity: fl.Int(2)},
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer rounds.Close()
	trained, err := trainer.Run(context.Background(), rounds, model.Init(rng), trainer.RunConfig{
		Rounds: 3,
		Steps:  trainer.Momentum(20, 0.5, 0),
		After: func(p trainer.Progress) error {
			fmt.Printf("round %d: %d reports\n", p.Round+1, p.Estimate.Reports)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	test, err := model.NewEvaluator(100)
	if err != nil {
		log.Fatal(err)
	}
	defer test.Close()
	accuracy, _, err := test.Evaluate(trained, x, labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("accuracy above 0.9:", accuracy > 0.9)
	// Output:
	// round 1: 2000 reports
	// round 2: 2000 reports
	// round 3: 2000 reports
	// accuracy above 0.9: true
}

// Two clients with one example each, and a server that averages their
// gradients.
func Example() {
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: 2}, 2)
	if err != nil {
		log.Fatal(err)
	}
	step, err := trainer.NewOptimizer(trainer.OptimizerConfig{Name: "sgd", LearningRate: 1}, model.Dim())
	if err != nil {
		log.Fatal(err)
	}
	worker, err := model.NewWorker(1)
	if err != nil {
		log.Fatal(err)
	}
	defer worker.Close()

	x := [][]float64{{1, 0}, {0, 1}}
	labels := []int{0, 1}
	params := model.Init(rand.New(rand.NewPCG(1, 2)))
	gradient, mean := make([]float64, model.Dim()), make([]float64, model.Dim())
	for range 20 {
		clear(mean)
		for client := range x {
			if _, err := worker.Gradient(gradient, params, x[client:client+1], labels[client:client+1]); err != nil {
				log.Fatal(err)
			}
			for i, g := range gradient {
				mean[i] += g / float64(len(x))
			}
		}
		if err := step.Step(params, mean); err != nil {
			log.Fatal(err)
		}
	}

	test, err := model.NewEvaluator(2)
	if err != nil {
		log.Fatal(err)
	}
	defer test.Close()
	accuracy, loss, err := test.Evaluate(params, x, labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy %.0f%%, loss below 0.1: %t\n", 100*accuracy, loss < 0.1)
	// Output: accuracy 100%, loss below 0.1: true
}

// Three clients with one example each, whose gradients come from one run of the
// graph. The last layer's are shifted, without effect on the model, so that they
// are as short as they can be.
func ExampleExamples() {
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: 2}, 3)
	if err != nil {
		log.Fatal(err)
	}
	examples, err := model.NewExamples(256)
	if err != nil {
		log.Fatal(err)
	}
	defer examples.Close()

	x := [][]float64{{3, 0}, {0, 3}, {3, 3}}
	losses, err := examples.Run(make([]float64, model.Dim()), x, []int{0, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	gradient := make([]float64, model.Dim())
	for client := range x {
		if err := examples.Shrunk(gradient, client); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f %.0f\n", losses[client], gradient)
	}
	// Output:
	// 1.10 [-3 0 0 0 0 0 -1 0 0]
	// 1.10 [0 0 0 0 -3 0 0 -1 0]
	// 1.10 [0 0 -3 0 0 -3 0 0 -1]
}

// The layout says which slice of the flat vector is which parameter.
func ExampleModel_layout() {
	model, err := trainer.NewModel("cnn", trainer.Input{Channels: 1, Height: 28, Width: 28}, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range model.Layout() {
		fmt.Println(p.Name, p.Shape, p.Offset)
	}
	// Output:
	// conv1.weight [1 5 5 8] 0
	// conv1.bias [8] 200
	// conv2.weight [8 3 3 16] 208
	// conv2.bias [16] 1360
	// output.weight [400 10] 1376
	// output.bias [10] 5376
}

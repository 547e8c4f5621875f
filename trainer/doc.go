// Package trainer does the learning of a federated run: models, the gradients of clients,
// and the server's steps. Use it to train a classifier from private means, over a network
// or in one process. Start with [NewModel] and [Run].
//
// # A run
//
// A [Rounds] is whatever returns the mean gradient of a round: a [Simulation] in one process, or a
// federation over gRPC as in examples/mnist. In each round [Run] asks it for the mean, and takes a
// step of the optimizer with the mean. Run returns a moving average of the models after each step.
// It does not average models of clients:
//
//	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 28, Width: 28}, 10)
//	clients, err := trainer.NewClients(images, labels, 1000, fl.NewRand()) // deals the images out
//	gradients, err := clients.On(model, true)
//	rounds, err := trainer.NewSimulation(trainer.SimulationConfig{Gradients: gradients, …})
//	trained, err := trainer.Run(ctx, rounds, model.Init(fl.NewRand()), trainer.RunConfig{
//		Rounds: 30, Steps: trainer.Momentum(5, 0.5, 0.8),
//	})
//
// # The parts
//
// A [Model] is the immutable description of a classifier. It fixes how many parameters there
// are and where each one lies in the flat vector that travels between client and server.
//
//	worker, err := model.NewWorker(1) // client
//	defer worker.Close()
//	gradient := make([]float64, model.Dim())
//	loss, err := worker.Gradient(gradient, params, images, labels)
//
//	step, err := trainer.NewOptimizer(trainer.OptimizerConfig{Name: "sgd", LearningRate: 0.1}, model.Dim())
//	err = step.Step(params, mean) // server; mean is the aggregated estimate
//
//	average, err := trainer.NewAverage(model.Dim(), 0.9)
//	err = average.Add(params) // after each step; average.Params is the model to use
//
//	test, err := model.NewEvaluator(100)
//	defer test.Close()
//	accuracy, loss, err := test.Evaluate(params, images, labels)
//
// A simulation of many clients needs one gradient for each client, but not one run of a graph for
// each. From one run [Examples] computes the separate gradient of every example in a batch.
// [Clients] computes the gradients of clients with one or more examples each. [Linear] is a linear
// model of rows of numbers with any loss: linear and logistic regression. Whatever else has
// gradients implements [Gradients].
//
// [Save] and [Load] keep a parameter vector in a .npy file, which
// numpy.load reads too; [WriteWeights] and [ReadWeights] do the same for a
// stream.
//
// # Models
//
// [ModelNames] returns the known names. All models map an image to one logit per class and are trained on the mean
// cross-entropy. There is no regularisation, no batch normalisation and no dropout, so the gradient
// of a set of examples is exactly the mean of the gradients of its members.
//
// # Gorgonia
//
// Graphs, symbolic differentiation, execution and the optimizers come from
// gorgonia.org/gorgonia v0.9.18. A graph is built and differentiated once per
// worker, for a fixed batch size, and then run again and again. Three of
// Gorgonia's habits shape this package:
//
//   - Its softmax over the last axis of a matrix shifts every row by a maximum
//     that starts from the first element of the first row, and so overflows or
//     returns log 0 for batches larger than one. The logits are therefore
//     reshaped so that the class axis is not the last.
//   - Its tape machine runs in a goroutine of its own, where a panic cannot be
//     recovered. Everything that reaches a graph is validated first, which is
//     the reason for the limit below.
//   - Building graphs touches package-level state without a lock, so this
//     package builds one graph at a time. Running them needs no lock.
//
// # Limits
//
// Every number handed to this package (parameters, pixels, gradients, learning rates) must be
// finite and at most 1e40 in magnitude; anything else is a *fl.ParamError that names the position.
// The bound is far outside any useful training run, and it guarantees that no intermediate value
// can overflow: a model has at most five layers, so it adds up products of at most six such
// numbers, and a layer has fewer than 2^28 inputs.
//
// Workers, evaluators, optimizers, averages and simulations are not safe for concurrent use: give
// each goroutine its own. Models and Clients are immutable and may be shared, and so may be the
// gradients of Examples between two runs. An optimizer's moments and an average are in memory only.
// After a restart they begin at zero.
//
// Memory of a worker is O(d + B·w), where d is the number of parameters, B
// the batch size and w the largest number of values that one layer computes
// for one example.
package trainer

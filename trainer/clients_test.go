package trainer

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// someClients are n clients with examples of a softmax model.
func someClients(t *testing.T, examples, n int) (testCase, *Clients) {
	t.Helper()
	c := softmaxCase(t, Input{1, 2, 3}, 4)
	x, labels := c.examples(testRand(5), examples)
	clients := must[*Clients](t)(NewClients(x, labels, n, testRand(6)))
	return c, clients
}

// on are the gradients of clients, shrunk or not.
func on(t *testing.T, c testCase, clients *Clients, shrunk bool) Gradients {
	t.Helper()
	g := must[Gradients](t)(clients.On(c.model, shrunk))
	t.Cleanup(func() { _ = errors.Join(g.Close(), g.Close()) })
	return g
}

// All clients hold the same number of examples, no two the same one.
func TestSharesAreDisjoint(t *testing.T) {
	_, clients := someClients(t, 900, 430)
	if clients.shares.each != 2 || clients.Len() != 430 {
		t.Errorf("%d clients with %d examples each, want 430 with ⌊900/430⌋ = 2", clients.Len(), clients.shares.each)
	}
	held := map[*float64]int{}
	for id := range clients.Len() {
		x, labels := clients.examples(id, nil, nil)
		if len(x) != 2 || len(labels) != 2 {
			t.Fatalf("client %d holds %d examples and %d labels", id, len(x), len(labels))
		}
		for i := range x {
			if other, ok := held[&x[i][0]]; ok {
				t.Fatalf("clients %d and %d hold the same example", other, id)
			}
			held[&x[i][0]] = id
		}
	}
	again, _ := clients.examples(7+3*430, nil, nil)
	if first, _ := clients.examples(7, nil, nil); &first[0][0] != &again[0][0] {
		t.Error("turn 7 + 3·Len is not client 7's")
	}
	if same := must[*Clients](t)(NewClients(clients.x, clients.labels, 430, testRand(6))); !slices.Equal(same.shares.order, clients.shares.order) {
		t.Error("equal generators deal differently")
	}
}

// Clients take part in turn: any run of Len turns has the gradients of all, and parts of it
// add up.
func TestTheTurnsGoRound(t *testing.T) {
	c, clients := someClients(t, 600, 600)
	plain, shorter := on(t, c, clients, false), on(t, c, clients, true)
	params := c.params(testRand(4))
	type tally struct {
		next          int
		squares, size float64
	}
	of := func(g Gradients, first, last int) tally {
		s := tally{next: first}
		err := g.Each(t.Context(), params, first, last, func(turn int, grad []float64) error {
			if turn != s.next {
				t.Fatalf("turn %d after %d", turn, s.next-1)
			}
			s.next++
			s.squares += floats.Dot(grad, grad)
			s.size += floats.Norm(grad, 1)
			return nil
		})
		if err != nil || s.next != last {
			t.Errorf("from %d: ended before %d, want %d, %v", first, s.next, last, err)
		}
		return s
	}
	all, later := of(plain, 0, 600), of(plain, 500, 1100)
	if math.Abs(all.squares-later.squares) > 1e-9 || all.squares == 0 {
		t.Errorf("all clients from two starts give %g and %g", all.squares, later.squares)
	}
	first, second := of(plain, 0, 200), of(plain, 200, 600)
	if math.Abs(first.squares+second.squares-all.squares) > 1e-9 {
		t.Errorf("two parts give %g and %g, together not %g", first.squares, second.squares, all.squares)
	}
	if shrunk := of(shorter, 0, 600); shrunk.size >= all.size {
		t.Errorf("shrunk gradients have L1 norms of %g, others %g", shrunk.size, all.size)
	}
}

// The gradient of a client is the gradient of its own examples as a Worker computes it, shrunk on
// request, also where a client's examples do not fit together with other clients' examples.
func TestAClientsGradientIsThatOfItsExamples(t *testing.T) {
	for _, shape := range []struct{ examples, clients int }{{900, 300}, {600, 2}, {300, 300}} {
		c, clients := someClients(t, shape.examples, shape.clients)
		params := c.params(testRand(4))
		w := must[*Worker](t)(c.model.NewWorker(16))
		defer w.Close()
		want := make([]float64, c.model.Dim())
		for _, shrunk := range []bool{false, true} {
			seen := 0
			last := min(300, shape.clients)
			if err := on(t, c, clients, shrunk).Each(t.Context(), params, 0, last, func(turn int, grad []float64) error {
				x, labels := clients.examples(turn, nil, nil)
				if _, err := w.Gradient(want, params, x, labels); err != nil {
					return err
				}
				if shrunk {
					if err := ShrinkL1(c.model, want); err != nil {
						return err
					}
					// The shift is one of several of the same length.
					if a, b := floats.Norm(grad, 1), floats.Norm(want, 1); math.Abs(a-b) > 1e-12*b {
						t.Fatalf("%+v: client %d: L1 norm %g, want %g", shape, turn, a, b)
					}
				} else if !near(grad, want) {
					t.Fatalf("%+v: client %d: gradient %g, want %g", shape, turn, grad, want)
				}
				seen++
				return nil
			}); err != nil || seen != last {
				t.Errorf("%+v: shrunk %t: %d clients, want %d, %v", shape, shrunk, seen, last, err)
			}
		}
	}
}

func TestClientsErrors(t *testing.T) {
	c, clients := someClients(t, 10, 5)
	g := on(t, c, clients, false)
	x, labels := c.examples(testRand(5), 10)
	_, err := NewClients(x, labels[1:], 5, testRand(1))
	refuses(t, err, "trainer: labels: got 9, rule: must be one for each of the 10 examples")
	for _, n := range []int{-1, 0, 11} {
		_, err := NewClients(x, labels, n, testRand(1))
		refuses(t, err, "trainer: clients: got ")
	}
	for want, order := range map[string][]int{
		"trainer: order: got 10, rule: must be in [0, 10), each": {0, 10}, "trainer: order: got -1": {-1, 0},
		"trainer: order: got 3": {3, 4, 3}, "trainer: clients: got 2, rule: must be in [1, 1]": {9},
	} {
		_, err := NewClientsInOrder(x, labels, 2, order)
		refuses(t, err, want)
	}
	if chosen, err := NewClientsInOrder(x, labels, 2, []int{7, 3, 9}); err != nil || chosen.Len() != 2 {
		t.Error(err)
	} else if held, _ := chosen.examples(1, nil, nil); len(held) != 1 || &held[0][0] != &x[3][0] {
		t.Errorf("client 1 holds %v, want the example at place 3", held)
	}
	params, stop := c.params(testRand(4)), errors.New("no battery")
	calls := 0
	err = g.Each(t.Context(), params, 3, 8, func(turn int, _ []float64) error {
		calls++
		if turn == 6 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || !strings.HasPrefix(err.Error(), "client 1: ") || calls != 4 {
		t.Errorf("%d clients, %v, want 4 and the error of client 1", calls, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Each(ctx, params, 0, 5, func(int, []float64) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	refuses(t, g.Each(t.Context(), params[1:], 0, 5, nil), "trainer: params: got ")
}

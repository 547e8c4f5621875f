package shufflesum

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
)

// sparVecSum counts the items of the reader's clients.
func sparVecSum() experiment.Experiment {
	return experiment.Experiment{
		Name:    "sparvecsum",
		Title:   "How many of your clients hold each item, by SparVecSum: estimates beside the truth",
		Source:  paper + ", Algorithms 7 and 8",
		Without: []string{experiment.FlagData, experiment.FlagRepeats},
		Bind: func(f *flag.FlagSet) experiment.Run {
			file := f.String("items", "", "CSV `file` with the head client,item and a line for each item that a client holds; empty: generated clients")
			composition := f.String("composition", hdsum.Tight.String(), "how a client's budget is split over its items: tight or paper")
			delta := f.Float64("delta", paperDelta, "δ of the central guarantee")
			beta := f.Float64("beta", paperBeta, "probability with which noise alone makes a class of clients count")
			shown := f.Int("show", 20, "most frequent items to show; 0: all")
			return bindBudget(f, 5, func(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
				how, err := hdsum.ParseComposition(*composition)
				if err != nil {
					return nil, err
				}
				if *shown < 0 {
					return nil, fl.Invalid("--show", *shown, "must be at least 0")
				}
				clients, names, err := held(*file, env)
				if err != nil {
					return nil, err
				}
				s, err := hdsum.NewSparseVecSum(hdsum.SparseConfig{
					Config: hdsum.Config{Clients: len(clients), Epsilon: b.epsilon, Delta: *delta, Relation: b.relation}, Dim: len(names), Composition: how, Beta: *beta,
				})
				if err != nil {
					return nil, err
				}
				return countItems(ctx, s, clients, names, env, *shown)
			})
		},
	}
}

// held returns the items of each client, in increasing order, and the items' names.
func held(path string, env experiment.Env) (clients [][]int, names []string, err error) {
	if path == "" {
		n, dim := 20_000, 1000
		if env.Quick {
			n, dim = 2000, 100
		}
		clients, _, err = clicks(n, dim, experiment.Stream(env.Seed, 5))
		for i := range dim {
			names = append(names, fmt.Sprintf("item %d", i+1))
		}
		return clients, names, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := csv.NewReader(file)
	if head, err := r.Read(); err != nil || !slices.Equal(head, []string{"client", "item"}) {
		return nil, nil, errors.Join(err, fl.Invalid("--items", path, "must begin with the line client,item"))
	}
	known, items := map[string]int{}, map[string]int{}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		client, ok := known[cells[0]]
		if !ok {
			client = len(clients)
			known[cells[0]], clients = client, append(clients, nil)
		}
		item, ok := items[cells[1]]
		if !ok {
			item = len(names)
			items[cells[1]], names = item, append(names, cells[1])
		}
		if at, twice := slices.BinarySearch(clients[client], item); !twice {
			clients[client] = slices.Insert(clients[client], at, item)
		}
	}
	return clients, names, nil
}

func countItems(ctx context.Context, s *hdsum.SparseVecSum, clients [][]int, names []string, env experiment.Env, shown int) (*experiment.Result, error) {
	truth := make([]int, len(names))
	for _, items := range clients {
		for _, i := range items {
			truth[i]++
		}
	}
	var messages int64
	e, err := command.Await(ctx, func() (e *hdsum.ItemCounts, err error) {
		e, messages, err = s.Simulate(clients, experiment.Stream(env.Seed, 102))
		return e, err
	})
	if err != nil {
		return nil, err
	}
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(truth[b], truth[a]) })
	if shown > 0 {
		order = order[:min(shown, len(order))]
	}
	r := &experiment.Result{
		Columns: []string{"item", "count", "estimate", "std_err"},
		Notes: []string{
			fmt.Sprintf("%d clients, %d items, %v messages a client; clients with more than %d items are dropped from the estimates.", len(clients), len(names), messages/int64(len(clients)), e.MaxItems),
			"The names of the items are public here: a list that is made from clients' data is no part of the guarantee. std_err is of the noise alone. count is what nobody sees in a round.",
		},
	}
	for _, i := range order {
		r.Rows = append(r.Rows, experiment.Row{names[i], truth[i], e.Value[i], e.StdErr})
	}
	return r, nil
}

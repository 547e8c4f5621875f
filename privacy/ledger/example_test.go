package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// A client with a lifetime budget of ε = 2 pays for two reports, and is refused a third.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	if err := l.SetBudget("keyboard", ledger.Budget{Epsilon: 2, Relation: fl.ReplaceOne}); err != nil {
		log.Fatal(err)
	}
	for _, day := range []string{"monday", "tuesday", "wednesday"} {
		round := fl.Round{
			ID: day, Mechanism: "coco", Dim: 1000, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne,
			MinReports: 10_000, PublicSeed: [32]byte{1}, Params: fl.Params{"sparsity": fl.Int(8)},
		}
		digest, err := round.Digest()
		if err != nil {
			log.Fatal(err)
		}
		charge := ledger.Charge{
			Purpose: "keyboard", Round: digest, RoundID: round.ID, Mechanism: round.Mechanism,
			Guarantee: fl.Guarantee{Trust: fl.Local, Epsilon: round.Epsilon, Relation: round.Relation},
		}
		id, err := l.Reserve(context.Background(), charge) // before the report is encoded
		if errors.Is(err, ledger.ErrBudget) {
			fmt.Println(day, "refused")
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		if err := l.Spend(id); err != nil { // before its first byte leaves
			log.Fatal(err)
		}
		fmt.Println(day, "sent")
	}
	spent, err := l.Spent("keyboard")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("spent: epsilon", spent.Epsilon)
	// Output:
	// monday sent
	// tuesday sent
	// wednesday refused
	// spent: epsilon 2
}

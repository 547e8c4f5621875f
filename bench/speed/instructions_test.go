package speed

import (
	"flag"
	"os/exec"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
)

var long = flag.Bool("long", false, "count instructions by valgrind")

// A gradient of twice the coordinates takes about twice the instructions, and a count is nearly the same
// when it is taken again. The runtime of Go starts with up to 10^5 instructions more or fewer (most of 18
// processes: 5·10^4 from their mean), which 128 reports of 157 000 share: that moves a count by 0.5 %.
func TestInstructionsAreCounted(t *testing.T) {
	if !*long {
		t.Skip("takes a quarter of a minute: -long")
	}
	root := mustCheckout(t)
	if _, err := exec.LookPath(counter); err != nil {
		t.Skip("no valgrind")
	}
	trees, err := (&setting{}).build(t.Context(), experiment.Env{}, root, t.TempDir(), "probe")
	if err != nil {
		t.Fatal(err)
	}
	count := func(dim int) float64 {
		n, err := trees[0].instructions(t.Context(), probe.Work{Kind: probe.Encode, Hash: "gf2", Dim: dim, Sparsity: 4, Epsilon: 5, Times: 128})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	small, again, large := count(40_000), count(40_000), count(80_000)
	if small/40_000 < 1 || small/40_000 > 30 || large/small < 1.9 || large/small > 2.1 || again/small < 0.97 || again/small > 1.03 {
		t.Errorf("%.0f and %.0f instructions for 40000 coordinates, %.0f for 80000", small, again, large)
	}
}

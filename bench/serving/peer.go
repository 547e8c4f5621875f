package serving

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// peer is the program of bench/peers. It measures Prio3 on the same
// vectors, both aggregators in one process and without a network.
type peer struct {
	binary, dir string
	each        time.Duration // of one of its 5 repetitions of one measurement
}

// buildPeer compiles the program into a directory.
func buildPeer(ctx context.Context, dir string, each time.Duration) (*peer, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/hushgrad/hushgrad").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	p := &peer{binary: filepath.Join(dir, "peers"), dir: dir, each: each}
	source := filepath.Join(strings.TrimSpace(string(root)), "bench", "peers")
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", source, "-o", p.binary, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w\n%s", source, err, out)
	}
	return p, nil
}

// measure returns the seconds of processor time that both aggregators need for one report, by
// the name of the contender.
func (p *peer) measure(ctx context.Context, l *load) (map[string]float64, error) {
	out, err := exec.CommandContext(ctx, p.binary, "--out", p.dir, "--time", p.each.String(),
		"--dim", fmt.Sprint(dim), "--sparsity", fmt.Sprint(l.sparsity), "--epsilon", fmt.Sprint(l.epsilon)).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("bench/peers: %w\n%s", err, out)
	}
	r, err := experiment.ReadRecord(filepath.Join(p.dir, "peers.json"))
	if err != nil {
		return nil, err
	}
	seconds := map[string]float64{}
	for _, row := range r.Rows {
		server, ok := row["server_us_per_report"].(float64)
		if !ok {
			return nil, fmt.Errorf("bench/peers: server_us_per_report is %v", row["server_us_per_report"])
		}
		seconds[fmt.Sprint(row["contender"])] = server * 1e-6
	}
	return seconds, nil
}

package pages

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// predictions lists the noise of runs by number of clients, with what was measured.
func predictions(in []*experiment.Record) (string, error) {
	g := newGrid("central ε", "clients", "slots", "ε of a report", "noise of the run", "noise of a round, planned", "measured")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "budget", "clients", "slots", "epsilon_local", "noise_of_run", "planned_noise")
		if err != nil {
			return "", err
		}
		measured := "–"
		if row["measured_noise"] != nil {
			m, err := numbers(row, "measured_noise", "low", "high")
			if err != nil {
				return "", err
			}
			measured = fmt.Sprintf("%#.3g ± %s", m[0], fl.FormatUp((m[2]-m[1])/2, 1))
		}
		g.add(fmt.Sprint(v[0]), fmt.Sprintf("%.0f", v[1]), fmt.Sprintf("%.0f", v[2]), fl.FormatUp(v[3], 4),
			fmt.Sprintf("%#.3g", v[4]), fmt.Sprintf("%#.3g", v[5]), measured)
	}
	return g.String(), nil
}

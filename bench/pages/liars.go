package pages

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// liars has a line for each federation, mechanism and attack, and a column for each share of liars.
func liars(in []*experiment.Record) (string, error) {
	var lines, heads []string
	var shares []float64
	cells := map[string]string{}
	for i, r := range in {
		for _, row := range r.Rows {
			v, err := numbers(row, "clients", "budget", "share", "alarms")
			if row["trust"] == "none" {
				v, err = numbers(row, "clients", "budget", "share")
			}
			if err != nil {
				return "", err
			}
			value, err := measured(row)
			if err != nil {
				return "", err
			}
			if len(v) > 3 && v[3] > 0 {
				value += fmt.Sprintf(", %g alarms", v[3])
			}
			if n, ok := row["public_alarms"].(float64); ok && n > 0 {
				value += fmt.Sprintf(", %v of %v runs noticed by round %v", row["noticed"], row["repeats"], row["first_public_alarm"])
			}
			if share, ok := row["backdoor"].(float64); ok {
				value += fmt.Sprintf(", %.3f marked", share)
			}
			who := fmt.Sprintf("%v, %g clients, ε = %g", row["trust"], v[0], v[1])
			if row["trust"] == "none" {
				who = fmt.Sprintf("no privacy, %g clients", v[0])
			}
			who += fmt.Sprintf(" | `%v`", row["mechanism"])
			if row["steps_checked"] == true {
				who += ", steps checked"
			}
			if row["compared"] == true {
				who += ", compared"
			}
			head := headOf(v[2])
			if !slices.Contains(shares, v[2]) {
				shares = append(shares, v[2])
			}
			own := fmt.Sprint(i, who)
			if v[2] == 0 { // for all attacks of the record
				cells[own+head] = value
				continue
			}
			line := fmt.Sprintf("%s | %v", who, row["attack"])
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
			cells[line+head] = value
			cells[line] = cmp.Or(cells[line], own)
		}
	}
	slices.Sort(shares)
	for _, share := range shares {
		heads = append(heads, headOf(share))
	}
	g := &grid{}
	g.lines = newGrid(append([]string{"who is trusted", "mechanism", "attack"}, heads...)...).lines
	for _, line := range lines {
		text := "| " + line + " |"
		for _, head := range heads {
			text += " " + cmp.Or(cells[line+head], cells[cells[line]+head], "–") + " |"
		}
		g.lines = append(g.lines, text)
	}
	return g.String(), nil
}

// headOf is the head of the column of a share of liars.
func headOf(share float64) string { return fmt.Sprintf("%g %% lie", 100*share) }

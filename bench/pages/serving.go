package pages

import (
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// servers are the columns of the rates of bench serve.
var servers = []string{"gRPC alone", "journal in memory", "journal on disk"}

// serving lists the rates of servers beside gRPC alone, a line for each kind of messages, and
// below them what is not a rate of a server.
func serving(in []*experiment.Record) (string, error) {
	var settings []string
	cells := map[string][]string{}
	rest := newGrid("beside", "setting", "median, least and largest")
	for _, row := range in[0].Rows {
		what, setting := fmt.Sprint(row["what"]), fmt.Sprint(row["setting"])
		median, err := number(row, "median")
		if err != nil {
			return "", err
		}
		column := slices.Index(servers, what)
		if column < 0 {
			text := fmt.Sprintf("%s %v", counted(median), row["unit"])
			if v, err := numbers(row, "low", "high"); err == nil {
				text = fmt.Sprintf("%s (%s to %s) %v", counted(median), counted(v[0]), counted(v[1]), row["unit"])
			}
			rest.add(what, setting, text)
			continue
		}
		if cells[setting] == nil {
			settings = append(settings, setting)
			cells[setting] = make([]string, 2*len(servers))
		}
		processor, err := number(row, "server_us_per_report")
		if err != nil {
			return "", err
		}
		cells[setting][2*column], cells[setting][2*column+1] = counted(median), counted(processor)
	}
	head := []string{"messages"}
	for _, name := range servers {
		head = append(head, name+", reports/s", "µs")
	}
	g := newGrid(head...)
	for _, setting := range settings {
		g.add(append([]string{setting}, cells[setting]...)...)
	}
	return g.String() + "\n" + rest.String(), nil
}

// tokens lists what a core of an issuer gives in a second, beside the bare signature.
func tokens(in []*experiment.Record) (string, error) {
	g := newGrid("what", "setting", "a second for each core", "µs of a core", "measured: median, least and largest")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "per_second_and_core", "us_each", "median", "low", "high")
		if err != nil {
			return "", err
		}
		rate := fmt.Sprintf("%s (%s to %s) %v", counted(v[2]), counted(v[3]), counted(v[4]), row["unit"])
		g.add(fmt.Sprint(row["what"]), fmt.Sprint(row["setting"]), counted(v[0]), counted(v[1]), rate)
	}
	return g.String(), nil
}

// shards lists the rates of clusters by their shards, and what a report costs the members and the broker.
func shards(in []*experiment.Record) (string, error) {
	g := newGrid("shards", "processors", "reports/s: median, least and largest", "member, µs per report", "broker, µs per report: reading", "broker, µs per report: publishing", "the broker's share")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "shards", "processors_of_members", "reports_per_second", "low", "high",
			"member_us_per_report", "broker_reading_us_per_report", "broker_publishing_us_per_report", "broker_share")
		if err != nil {
			return "", err
		}
		g.add(fmt.Sprint(v[0]), fmt.Sprint(v[1]), fmt.Sprintf("%s (%s to %s)", counted(v[2]), counted(v[3]), counted(v[4])),
			fmt.Sprintf("%.3g", v[5]), fmt.Sprintf("%.2g", v[6]), fmt.Sprintf("%.2g", v[7]), fmt.Sprintf("%.1f %%", 100*v[8]))
	}
	return g.String(), nil
}

// counted writes a number with at most three significant digits and a space between thousands.
func counted(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%.3g", v)
	}
	unit := 1.0
	for v/unit >= 1000 {
		unit *= 10
	}
	n := int(v/unit) * int(unit) // rounded down
	text := fmt.Sprint(n % 1000)
	for n /= 1000; n > 0; n /= 1000 {
		for len(text)%4 != 3 {
			text = "0" + text
		}
		text = fmt.Sprint(n%1000) + " " + text
	}
	return text
}

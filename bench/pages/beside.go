package pages

import (
	"fmt"
	"math"
)

// besideLine is something that stands beside the accuracy of a planned run. cell returns "" for a row
// that does not have it, as in results that are older than it.
type besideLine struct {
	name string
	cell func(row map[string]any) string
}

var (
	zeroShot = besideLine{"zero-shot: the features alone", func(row map[string]any) string {
		known, measured := row["zero_shot"]
		if v, ok := known.(float64); ok {
			return fmt.Sprintf("%.3f", v)
		}
		if measured { // these features know no classes
			return "–"
		}
		return ""
	}}
	foundOut = besideLine{"found out, at most: from one report, from all linked", func(row map[string]any) string {
		one, ok := row["attack_one_report"].(float64)
		all, also := row["attack_linked"].(float64)
		if !ok || !also {
			return ""
		}
		return percentAbove(one) + ", " + percentAbove(all)
	}}
	labelsFound = besideLine{"labels that an attack finds, all reports linked", func(row map[string]any) string {
		if found, ok := row["attack_labels_found"].(float64); ok {
			return fmt.Sprintf("%.0f %%", 100*found)
		}
		return ""
	}}
)

// percentAbove writes a bound in percent, rounded up to a tenth.
func percentAbove(share float64) string {
	return fmt.Sprintf("%.1f %%", math.Ceil(1000*share-1e-9)/10)
}

// Package prefix puts words before an error: what failed. Use it in an exported function whose steps return
// their errors without these words. Start with [Error].
package prefix

import "fmt"

// Error puts words, as fmt.Sprintf makes them, before an error. It leaves nil as it is. A function with a named
// error defers it:
//
//	defer prefix.Error(&err, "ledger: open %s", path)
func Error(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

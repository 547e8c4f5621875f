package main

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// maxUpload is the traffic of a whole run beyond which it has to be asked for.
const maxUpload = 4e9

// affordable refuses runs whose clients send more than a demo should.
func (c config) affordable(r *result) error {
	upload := r.BytesPerReport * float64(c.cohort) * float64(c.rounds)
	if upload <= maxUpload || c.force {
		return nil
	}
	return fl.Invalid("upload", fmt.Sprintf("%.3g GB in %d rounds", upload/1e9, c.rounds), "must be at most %g GB unless -force is given", maxUpload/1e9)
}

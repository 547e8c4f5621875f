package hdsum

import "github.com/hushgrad/hushgrad/hdsum/internal/gkmps"

// Calibration says how much noise of GKMPS is enough. All of them are proved.
type Calibration uint8

const (
	// CalibrationCertified is the default: the constants of CalibrationPublished, without the atoms that no input
	// reaches. Same privacy, 27 % (U = 2) to 3 % (large U) fewer messages.
	CalibrationCertified = Calibration(gkmps.Certified)
	// CalibrationPublished has the constants of the paper's Theorem 2 on every atom.
	CalibrationPublished = Calibration(gkmps.Published)
	// CalibrationTight uses exact tails of the negative binomial law instead of the paper's Theorem 10. Same
	// privacy, about 4 to 9 times fewer messages than CalibrationCertified.
	CalibrationTight = Calibration(gkmps.Tight)
)

func (c Calibration) String() string { return gkmps.Calibration(c).String() }

// ParseCalibration is the inverse of String. It returns a *fl.ParamError that lists the choices for
// any other text.
func ParseCalibration(text string) (Calibration, error) {
	c, err := gkmps.ParseCalibration(text)
	return Calibration(c), err
}

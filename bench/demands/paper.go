package demands

import (
	"strconv"
	"strings"
)

// row is a row of the paper's Tables 4 and 5 as it is printed: the optimum for the regime, A,
// Prop, UNI, SM and LDP.
type row [6]string

var (
	salaryRows = map[measure]row{
		quantile: {"0.118", "0.174", "0.273", "1.000", "0.459", "0.420"},
		square:   {"0.011", "0.030", "0.074", "0.396", "0.180", "0.087"},
	}
	correlatedRows = map[int]map[measure]row{
		5: {
			quantile: {"0.105", "0.083", "0.202", "1.000", "0.924", "0.253"},
			square:   {"0.012", "0.007", "0.041", "0.834", "0.779", "0.027"},
		},
		20: {
			quantile: {"0.020", "0.003", "0.090", "0.233", "1.000", "0.125"},
			square:   {"3e-4", "7e-6", "0.008", "0.022", "0.779", "0.008"},
		},
	}
	cancerRows = map[measure]row{
		quantile: {"0.009", "0.005", "0.014", "0.091", "0.382", "0.012"},
		square:   {"5e-5", "1e-5", "8e-5", "0.003", "0.036", "7e-5"},
	}
	uncorrelatedRows = map[int]map[measure]row{
		5: {
			quantile: {"0.012", "0.008", "0.023", "0.370", "0.798", "0.0152"},
			square:   {"1e-4", "3e-5", "2e-4", "0.043", "0.198", "1e-4"},
		},
		20: {
			quantile: {"0.013", "0.007", "0.020", "0.482", "0.348", "0.015"},
			square:   {"1e-4", "2e-5", "2e-4", "0.095", "0.028", "1e-4"},
		},
	}
	salaryMeanRows = map[measure]row{
		quantile: {"0.064", "0.005", "0.005", "0.066", "0.005", "1.000"},
		square:   {"2e-5", "2e-5", "2e-5", "0.001", "2e-5", "0.832"},
	}
	correlatedMeanRows = map[measure]row{
		quantile: {"0.008", "0.009", "0.009", "0.027", "0.052", "0.085"},
		square:   {"4e-5", "7e-5", "8e-4", "2e-4", "2e-5", "0.002"},
	}
	uncorrelatedMeanRows = map[measure]row{
		quantile: {"0.008", "0.001", "0.004", "0.027", "0.110", "0.086"},
		square:   {"4e-5", "3e-7", "5e-6", "1e-4", "0.003", "0.002"},
	}
)

// printed returns the number that the paper prints in a column, and half a unit of its last
// digit.
func (r row) printed(column int) (value, half float64, err error) {
	text := r[column]
	if value, err = strconv.ParseFloat(text, 64); err != nil {
		return 0, 0, err
	}
	digits, exponent, scientific := strings.Cut(text, "e")
	unit := 0
	if scientific {
		if unit, err = strconv.Atoi(exponent); err != nil {
			return 0, 0, err
		}
	}
	_, places, _ := strings.Cut(digits, ".")
	half, err = strconv.ParseFloat("5e"+strconv.Itoa(unit-len(places)-1), 64)
	return value, half, err
}

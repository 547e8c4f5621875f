package laboratory

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// curvePoint is a point of a reader's curve.
type curvePoint struct {
	curve string
	panel int // from 1; 0: all panels
	x, y  float64
}

// curveColumns are the columns of a file of curves. The last may be missing.
var curveColumns = []string{"curve", "x", "y", "panel"}

// readCurves reads curves from a CSV file with a head.
func readCurves(path string) (points []curvePoint, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := csv.NewReader(file)
	head, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !slices.Equal(head, curveColumns) && !slices.Equal(head, curveColumns[:3]) {
		return nil, fl.Invalid("--curves", path, "must begin with the line curve,x,y or curve,x,y,panel")
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		p := curvePoint{curve: cells[0]}
		var badX, badY, badPanel error
		p.x, badX = strconv.ParseFloat(cells[1], 64)
		p.y, badY = strconv.ParseFloat(cells[2], 64)
		numbered := len(cells) > 3 && cells[3] != ""
		if numbered {
			p.panel, badPanel = strconv.Atoi(cells[3])
		}
		if badX != nil || badY != nil || badPanel != nil || numbered && p.panel < 1 || p.curve == "" {
			return nil, fl.Invalid("--curves", fmt.Sprintf("%s, line %d", path, line), "must be a name, two numbers and, if there is a fourth column, nothing or the number of a panel from 1 on")
		}
		points = append(points, p)
	}
	if len(points) == 0 {
		return nil, fl.Invalid("--curves", path, "must have a line below its head")
	}
	return points, nil
}

// beside draws a reader's curves in the panels of a result's figure.
func beside(r *experiment.Result, points []curvePoint, path string) error {
	if r.Plot == nil {
		return fl.Invalid("--curves", path, "must be left out: the experiment has no figure")
	}
	var names []string
	for _, p := range points {
		if p.panel > len(r.Plot.Panels) {
			return fl.Invalid("--curves", fmt.Sprintf("panel %d", p.panel), "must be one of the %d panels of the figure", len(r.Plot.Panels))
		}
		if !slices.Contains(names, p.curve) {
			names = append(names, p.curve)
		}
	}
	for _, panel := range r.Plot.Panels {
		for _, s := range panel.Series {
			if slices.Contains(names, s.Name) {
				return fl.Invalid("--curves", s.Name, "must be another name: the figure has this curve")
			}
		}
	}
	for _, name := range names {
		for i := range r.Plot.Panels {
			s := figure.Series{Name: name, Style: figure.LinePoints}
			for _, p := range points {
				if p.curve == name && (p.panel == 0 || p.panel == i+1) {
					s.X, s.Y = append(s.X, p.x), append(s.Y, p.y)
				}
			}
			if s.X != nil {
				r.Plot.Panels[i].Series = append(r.Plot.Panels[i].Series, s)
			}
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("The figure has curves of a file beside ours: %q.", names))
	return paint.Validate(r.Plot)
}

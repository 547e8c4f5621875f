package server

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// Bounds of what a training run may publish, so that it takes at most about 1 MB.
const (
	maxSeries       = 32 // names, and scalars of a call
	maxSeriesName   = 64 // bytes
	maxSeriesPoints = 1000
)

// scalars are the series that were published. They are in memory only. The zero value has none.
type scalars struct {
	mu     sync.Mutex
	series map[string][]overview.Point
}

// PutScalars takes all numbers of a call, or none.
func (s operatorService) PutScalars(_ context.Context, req *service.PutScalarsRequest) (*service.PutScalarsResponse, error) {
	if err := s.scalars.put(req.GetScalars()); err != nil {
		return nil, s.fail("PutScalars", err, "")
	}
	return &service.PutScalarsResponse{}, nil
}

func (s *scalars) put(given []*service.Scalar) error {
	if len(given) == 0 || len(given) > maxSeries {
		return fl.Invalid("scalars", len(given), "must be in [1, %d]", maxSeries)
	}
	for i, one := range given {
		if err := checkScalar(fmt.Sprintf("scalars[%d].", i), one); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string][]overview.Point{}
	maps.Copy(names, s.series)
	for _, one := range given {
		points := names[one.GetName()]
		p := overview.Point{Round: int(one.GetRound()), Value: one.GetValue(), StdErr: one.GetStdErr()}
		at, known := slices.BinarySearchFunc(points, p.Round, func(p overview.Point, round int) int { return cmp.Compare(p.Round, round) })
		points = slices.Clone(points) // whoever was given the old ones still reads them
		if known {
			points[at] = p
		} else {
			points = slices.Insert(points, at, p)
		}
		names[one.GetName()] = points[max(0, len(points)-maxSeriesPoints):]
	}
	if len(names) > maxSeries {
		return because(errLimit, "scalars", fmt.Sprintf("%d names", len(names)), "must have at most %d on this server", maxSeries)
	}
	s.series = names
	return nil
}

// checkScalar refuses what is no point of a series. field is what the errors call it.
func checkScalar(field string, one *service.Scalar) error {
	switch name := one.GetName(); {
	case name == "" || len(name) > maxSeriesName || strings.Trim(name, nameBytes) != "" || strings.TrimSpace(name) != name:
		return fl.Invalid(field+"name", name, "must be 1 to %d characters of [A-Za-z0-9 ._/-], without a space at an end", maxSeriesName)
	case one.GetRound() < 1 || one.GetRound() > math.MaxInt32:
		return fl.Invalid(field+"round", one.GetRound(), "must be in [1, %d]", math.MaxInt32)
	case math.IsNaN(one.GetValue()) || math.IsInf(one.GetValue(), 0):
		return fl.Invalid(field+"value", one.GetValue(), "must be finite")
	case !(one.GetStdErr() >= 0) || math.IsInf(one.GetStdErr(), 1):
		return fl.Invalid(field+"std_err", one.GetStdErr(), "must be finite and ≥ 0; 0 means that none is known")
	}
	return nil
}

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._/-"

// all returns the series by name. The caller must not change the points.
func (s *scalars) all() []overview.Series {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]overview.Series, 0, len(s.series))
	for _, name := range slices.Sorted(maps.Keys(s.series)) {
		out = append(out, overview.Series{Name: name, Points: s.series[name]})
	}
	return out
}

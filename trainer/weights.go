package trainer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hushgrad/hushgrad/internal/npy"
)

// WeightsFormat is the media type of what WriteWeights writes.
const WeightsFormat = "application/x-npy"

// WriteWeights writes params as a NumPy array: .npy version 1.0, little-endian
// float64, one dimension, in the order of m.Layout. params must have length Dim
// of m and finite elements of at most 1e40 in magnitude. O(d).
func WriteWeights(w io.Writer, m *Model, params []float64) error {
	if err := checkVector("params", params, m.Dim()); err != nil {
		return err
	}
	if err := npy.Write(w, params); err != nil {
		return fmt.Errorf("trainer: weights: %w", err)
	}
	return nil
}

// ReadWeights reads what WriteWeights or numpy.save wrote, to the end of r. The
// error says what is wrong when that is not a .npy array of version 1.0 with
// exactly Dim little-endian float64 in one dimension, or when an element is not
// finite or exceeds 1e40 in magnitude. O(d) time and memory, however much r
// holds.
func ReadWeights(r io.Reader, m *Model) ([]float64, error) {
	return readWeights(r, "weights", m.Dim())
}

// Save is WriteWeights into the file at path. The bytes go to a temporary file
// in the same folder that then replaces path: a reader sees the old file or the
// new one, never a part, and an error leaves the old file in place. The file
// is readable by everyone (mode 0644): the global model is public. O(d).
func Save(path string, m *Model, params []float64) (err error) {
	if err := checkVector("params", params, m.Dim()); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("trainer: save: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("trainer: save: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	if err := errors.Join(npy.Write(f, params), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Load is ReadWeights from the file at path; errors name the path. O(d).
func Load(path string, m *Model) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trainer: load: %w", err)
	}
	defer f.Close()
	return readWeights(f, path, m.Dim())
}

// readWeights reads a parameter vector of length dim; name stands for it in
// errors.
func readWeights(r io.Reader, name string, dim int) ([]float64, error) {
	params, err := npy.Read(r, dim)
	if err != nil {
		return nil, fmt.Errorf("trainer: %s: %w", name, err)
	}
	if err := checkVector(name, params, dim); err != nil {
		return nil, err
	}
	return params, nil
}

package model

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// Readers of the model before the current one go on. Readers of older ones give way.
func TestReadersOfOldModelsGiveWay(t *testing.T) {
	var c Current
	if v, err := c.Version(); !errors.Is(err, ErrNone) {
		t.Errorf("version %d, %v, want none", v, err)
	}
	for i := range uint64(3) {
		m, err := New(i+1, &service.ModelHeader{Format: "x"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Set(m)
	}
	for version := range uint64(4) {
		part, err := c.part(version, 0)
		if readable := version >= 2; readable != (part != nil) || readable == errors.Is(err, ErrRetired) {
			t.Errorf("version %d of 3: %d bytes, %v", version, len(part), err)
		}
	}
}

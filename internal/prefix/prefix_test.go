package prefix_test

import (
	"errors"
	"io"
	"testing"

	"github.com/hushgrad/hushgrad/internal/prefix"
)

func open(path string, fails error) (err error) {
	defer prefix.Error(&err, "open %q", path)
	path = "another one"
	return fails
}

// The words are from the time of the defer, and the error is wrapped.
func TestAnErrorGetsItsWords(t *testing.T) {
	if err := open("a%d", nil); err != nil {
		t.Error(err)
	}
	if err := open("a%d", io.EOF); err.Error() != `open "a%d": EOF` || !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

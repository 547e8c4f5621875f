package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
)

// dictionary maps the names of keys to their numbers. It is public: without one,
// names are the numbers themselves.
type dictionary struct {
	names  []string
	number map[string]uint32
	dim    int
}

// readDictionary reads one name per line, at most dim of them.
func readDictionary(file string, dim int) (*dictionary, error) {
	d := &dictionary{dim: dim}
	if file == "" {
		return d, nil
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, fl.Invalid("-keys", file, "must be readable: %v", err)
	}
	defer in.Close()
	return d, d.read(in, file)
}

func (d *dictionary) read(in io.Reader, file string) error {
	d.number = map[string]uint32{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name := lines.Text()
		if _, twice := d.number[name]; twice {
			return fl.Invalid("-keys", name, "must be listed once, line %d of %s repeats it", len(d.names)+1, file)
		}
		if len(d.names) == d.dim {
			return fl.Invalid("-keys", file, "must have at most dim = %d lines", d.dim)
		}
		d.number[name] = uint32(len(d.names))
		d.names = append(d.names, name)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// lookup returns the number of a name.
func (d *dictionary) lookup(name string) (uint32, error) {
	if d.number != nil {
		n, ok := d.number[name]
		if !ok {
			return 0, fl.Invalid("key", name, "must be in the dictionary")
		}
		return n, nil
	}
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil || n >= uint64(d.dim) {
		return 0, fl.Invalid("key", name, "must be a number below dim = %d, or -keys must be given", d.dim)
	}
	return uint32(n), nil
}

// name returns the name of a number.
func (d *dictionary) name(n int) string {
	if n < len(d.names) {
		return d.names[n]
	}
	return strconv.Itoa(n)
}

// Package dictionary maps the names of keys to their numbers, for people who do not number their
// keys. It is public: every client and every aggregator has the same one. Start with [Open].
package dictionary

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
)

// Dictionary is a list of names. Without one, names are the numbers themselves.
type Dictionary struct {
	names  []string
	number map[string]uint32
	dim    int
}

// Open reads a file of one name per line, at most dim of them. An empty name of a file gives the
// dictionary of numbers. An error names the flag --keys.
func Open(file string, dim int) (*Dictionary, error) {
	if file == "" {
		return &Dictionary{dim: dim}, nil
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, fl.Invalid("--keys", file, "must be readable: %v", err)
	}
	defer in.Close()
	return Read(in, file, dim)
}

// Read is Open for a file that is open.
func Read(in io.Reader, file string, dim int) (*Dictionary, error) {
	d := &Dictionary{dim: dim, number: map[string]uint32{}}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name := lines.Text()
		if _, twice := d.number[name]; twice {
			return nil, fl.Invalid("--keys", name, "must be listed once, line %d of %s repeats it", len(d.names)+1, file)
		}
		if len(d.names) == d.dim {
			return nil, fl.Invalid("--keys", file, "must have at most dim = %d lines", d.dim)
		}
		d.number[name] = uint32(len(d.names))
		d.names = append(d.names, name)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// Lookup returns the number of a name.
func (d *Dictionary) Lookup(name string) (uint32, error) {
	if d.number != nil {
		n, ok := d.number[name]
		if !ok {
			return 0, fl.Invalid("key", name, "must be in the dictionary, the file of --keys")
		}
		return n, nil
	}
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil || n >= uint64(d.dim) {
		return 0, fl.Invalid("key", name, "must be a number below dim = %d, or --keys must be given", d.dim)
	}
	return uint32(n), nil
}

// Name returns the name of a number.
func (d *Dictionary) Name(n int) string {
	if n < len(d.names) {
		return d.names[n]
	}
	return strconv.Itoa(n)
}

// Names lists the names in the order of their numbers; nil without a file.
func (d *Dictionary) Names() []string { return d.names }

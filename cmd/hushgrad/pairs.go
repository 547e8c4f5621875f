package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/dictionary"
)

// pair is a key-value pair with the line of the input that it stands on.
type pair struct {
	value float64
	key   uint32
	line  uint32
}

// clientPairs are the pairs of each client, in the order in which clients first appear.
type clientPairs struct {
	order []string
	pairs map[string][]pair
	keys  *dictionary.Dictionary
}

// client lists a client, which takes part whether it has pairs or not.
func (c *clientPairs) client(name string) error {
	if name == "" {
		return fl.Invalid("client", name, "must not be empty")
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fl.Invalid("client", name, "must be UTF-8 without control characters, in a file of CSV or JSON lines")
	}
	if _, known := c.pairs[name]; !known {
		c.order = append(c.order, name)
		c.pairs[name] = nil
	}
	return nil
}

// add gives a listed client a pair.
func (c *clientPairs) add(client, key string, value float64, line int) error {
	if !(value >= -1 && value <= 1) {
		return fl.Invalid("value", value, "must be in [-1, 1]")
	}
	number, err := c.keys.Lookup(key)
	if err != nil {
		return err
	}
	c.pairs[client] = append(c.pairs[client], pair{value, number, uint32(line)})
	return nil
}

// finish sorts the pairs of every client and refuses a key that a client has twice.
func (c *clientPairs) finish() error {
	if len(c.order) == 0 {
		return fl.Invalid("clients", 0, "at least one must be listed")
	}
	for _, client := range c.order {
		pairs := c.pairs[client]
		slices.SortStableFunc(pairs, func(a, b pair) int { return int(int64(a.key) - int64(b.key)) })
		for i := 1; i < len(pairs); i++ {
			if key := pairs[i].key; key == pairs[i-1].key {
				return fmt.Errorf("line %d: %w", pairs[i].line, fl.Invalid("key", c.keys.Name(int(key)), "client %q must have it once, and has it on line %d", client, pairs[i-1].line))
			}
		}
	}
	return nil
}

// of appends the pairs of client number i, from 0, as a mechanism takes them.
func (c *clientPairs) of(i int, dst []fl.KeyValue) []fl.KeyValue {
	for _, p := range c.pairs[c.order[i]] {
		dst = append(dst, fl.KeyValue{Key: p.key, Value: p.value})
	}
	return dst
}

// above returns the number of clients with more than limit pairs, and the first of them.
func (c *clientPairs) above(limit int) (count int, first string) {
	for _, client := range c.order {
		if len(c.pairs[client]) > limit {
			if count == 0 {
				first = client
			}
			count++
		}
	}
	return count, first
}

// readPairs reads pairs of clients in one of the formats. Errors begin with the name of the
// input and, where there is one, the line.
func readPairs(in io.Reader, name, format string, d *dictionary.Dictionary) (*clientPairs, error) {
	c := &clientPairs{pairs: map[string][]pair{}, keys: d}
	var err error
	switch format {
	case "csv":
		err = c.readCSV(in)
	case "jsonl":
		err = c.readJSONLines(in)
	default:
		return nil, fl.Invalid("--format", format, "must be csv or jsonl")
	}
	if err == nil {
		err = c.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

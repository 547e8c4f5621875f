package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// clientPairs are the pairs of each client, in the order in which clients first appear.
type clientPairs struct {
	order []string
	pairs map[string][]fl.KeyValue
}

func (c *clientPairs) add(client string, key uint32, value float64) {
	if _, known := c.pairs[client]; !known {
		c.order = append(c.order, client)
	}
	c.pairs[client] = append(c.pairs[client], fl.KeyValue{Key: key, Value: value})
}

// finish sorts the pairs of every client and refuses a key that a client has twice and
// values outside [−1, 1].
func (c *clientPairs) finish(d *dictionary) error {
	for _, client := range c.order {
		pairs := c.pairs[client]
		slices.SortFunc(pairs, func(a, b fl.KeyValue) int { return int(a.Key) - int(b.Key) })
		if err := fl.CheckKeyValues(pairs, d.dim); err != nil {
			return fmt.Errorf("client %q: %w", client, err)
		}
	}
	return nil
}

// readPairs reads pairs of clients in one of the formats.
func readPairs(in io.Reader, format string, d *dictionary) (*clientPairs, error) {
	c := &clientPairs{pairs: map[string][]fl.KeyValue{}}
	var err error
	switch format {
	case "csv":
		err = c.readCSV(in, d)
	case "jsonl":
		err = c.readJSONLines(in, d)
	default:
		return nil, fl.Invalid("-format", format, "must be csv or jsonl")
	}
	if err != nil {
		return nil, err
	}
	return c, c.finish(d)
}

// readCSV reads lines of client, key and value, in any order of clients. A first line
// whose value is not a number is a header.
func (c *clientPairs) readCSV(in io.Reader, d *dictionary) error {
	r := csv.NewReader(bufio.NewReaderSize(in, 1<<16))
	r.FieldsPerRecord = 3
	r.ReuseRecord = true
	for line := 1; ; line++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fl.Invalid("csv", err.Error(), "must have lines of client,key,value")
		}
		value, err := strconv.ParseFloat(record[2], 64)
		if err != nil && line == 1 {
			continue
		}
		if err != nil {
			return fl.Invalid("value", record[2], "must be a number, line %d is not", line)
		}
		key, err := d.lookup(record[1])
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		c.add(strings.Clone(record[0]), key, value)
	}
}

// line is one line of the JSON-lines form: all pairs of a client, or a part of them.
type line struct {
	Client string             `json:"client"`
	Values map[string]float64 `json:"values"`
}

func (c *clientPairs) readJSONLines(in io.Reader, d *dictionary) error {
	decoder := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	decoder.DisallowUnknownFields()
	for number := 1; ; number++ {
		var l line
		err := decoder.Decode(&l)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fl.Invalid("jsonl", err.Error(), `must have objects like {"client": "c1", "values": {"key": 0.5}}, number %d is not`, number)
		}
		if _, known := c.pairs[l.Client]; !known {
			c.order = append(c.order, l.Client)
			c.pairs[l.Client] = nil // a client without pairs takes part, too
		}
		for name, value := range l.Values {
			key, err := d.lookup(name)
			if err != nil {
				return fmt.Errorf("object %d: %w", number, err)
			}
			c.add(l.Client, key, value)
		}
	}
}

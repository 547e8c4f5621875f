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

// users are the pairs of each user, in the order in which users first appear.
type users struct {
	order []string
	pairs map[string][]fl.KeyValue
}

func (u *users) add(user string, key uint32, value float64) {
	if _, known := u.pairs[user]; !known {
		u.order = append(u.order, user)
	}
	u.pairs[user] = append(u.pairs[user], fl.KeyValue{Key: key, Value: value})
}

// finish sorts the pairs of every user and refuses a key that a user has twice and
// values outside [−1, 1].
func (u *users) finish(d *dictionary) error {
	for _, user := range u.order {
		pairs := u.pairs[user]
		slices.SortFunc(pairs, func(a, b fl.KeyValue) int { return int(a.Key) - int(b.Key) })
		if err := fl.CheckKeyValues(pairs, d.dim); err != nil {
			return fmt.Errorf("user %q: %w", user, err)
		}
	}
	return nil
}

// readPairs reads pairs of users in one of the formats.
func readPairs(in io.Reader, format string, d *dictionary) (*users, error) {
	u := &users{pairs: map[string][]fl.KeyValue{}}
	var err error
	switch format {
	case "csv":
		err = u.readCSV(in, d)
	case "jsonl":
		err = u.readJSONLines(in, d)
	default:
		return nil, fl.Invalid("-format", format, "must be csv or jsonl")
	}
	if err != nil {
		return nil, err
	}
	return u, u.finish(d)
}

// readCSV reads lines of user, key and value, in any order of users. A first line
// whose value is not a number is a header.
func (u *users) readCSV(in io.Reader, d *dictionary) error {
	r := csv.NewReader(bufio.NewReaderSize(in, 1<<16))
	r.FieldsPerRecord = 3
	r.ReuseRecord = true
	for line := 1; ; line++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fl.Invalid("csv", err.Error(), "must have lines of user,key,value")
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
		u.add(strings.Clone(record[0]), key, value)
	}
}

// line is one line of the JSON-lines form: all pairs of a user, or a part of them.
type line struct {
	User   string             `json:"user"`
	Values map[string]float64 `json:"values"`
}

func (u *users) readJSONLines(in io.Reader, d *dictionary) error {
	decoder := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	decoder.DisallowUnknownFields()
	for number := 1; ; number++ {
		var l line
		err := decoder.Decode(&l)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fl.Invalid("jsonl", err.Error(), `must have objects like {"user": "u1", "values": {"key": 0.5}}, number %d is not`, number)
		}
		if _, known := u.pairs[l.User]; !known {
			u.order = append(u.order, l.User)
			u.pairs[l.User] = nil // a user without pairs takes part, too
		}
		for name, value := range l.Values {
			key, err := d.lookup(name)
			if err != nil {
				return fmt.Errorf("object %d: %w", number, err)
			}
			u.add(l.User, key, value)
		}
	}
}

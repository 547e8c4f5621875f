package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// jsonlRule is what a line must be.
const jsonlRule = `must be an object like {"client": "c1", "values": {"key": 0.5}}`

// jsonLine is one line of the JSON-lines form: all pairs of a client, or a part of them.
type jsonLine struct {
	Client string     `json:"client"`
	Values jsonValues `json:"values"`
}

// jsonValues are the members of an object in their order. A map would hide one that is
// there twice, and take null for 0.
type jsonValues []jsonValue

type jsonValue struct {
	key   string
	value float64
}

// UnmarshalJSON implements json.Unmarshaler. The package json has checked the syntax.
func (v *jsonValues) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	switch open, err := d.Token(); {
	case err != nil:
		return err
	case open == nil: // null: no pairs
		return nil
	case open != json.Delim('{'):
		return fl.Invalid("values", string(text), "must be an object of keys and numbers")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		member, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		value, ok := member.(float64)
		if !ok {
			return fl.Invalid("value", fmt.Sprint(member), "the value of key %q must be a number in [-1, 1]", name)
		}
		*v = append(*v, jsonValue{name, value})
	}
	return nil
}

// readJSONLines reads one object per line. Empty lines are skipped.
func (c *clientPairs) readJSONLines(in io.Reader) error {
	r := bufio.NewReaderSize(in, 1<<16)
	for number := 1; ; number++ {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := c.addLine(text, number); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (c *clientPairs) addLine(text []byte, number int) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var l jsonLine
	err := d.Decode(&l)
	if err == nil && d.InputOffset() < int64(len(bytes.TrimRight(text, " \t\r\n"))) {
		err = errors.New("more than one value")
	}
	var wrong *fl.ParamError
	switch {
	case errors.As(err, &wrong):
		return wrong
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fl.Invalid("jsonl", "a part of a JSON value", jsonlRule)
	case err != nil:
		return fl.Invalid("jsonl", err, jsonlRule)
	}
	if err := c.client(l.Client); err != nil {
		return err
	}
	for _, v := range l.Values {
		if err := c.add(l.Client, v.key, v.value, number); err != nil {
			return err
		}
	}
	return nil
}

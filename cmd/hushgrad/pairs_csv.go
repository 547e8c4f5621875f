package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// csvColumns are the columns of a CSV without a header, and the names in one with.
var csvColumns = []string{"client", "key", "value"}

// csvRule is what a line must be.
const csvRule = "must have the fields client,key,value, or a client without pairs alone"

// readCSV reads lines of client, key and value, in any order of clients. A first line with
// the names of the columns says in which order they stand. A client without pairs has a line
// with its name alone, or with an empty key and an empty value.
func (c *clientPairs) readCSV(in io.Reader) error {
	buffered := bufio.NewReaderSize(in, 1<<16)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = buffered.Discard(len(mark)) // the byte order mark of spreadsheets
	}
	r := csv.NewReader(buffered)
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	order := []int{0, 1, 2}
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("line %d: %w", wrong.Line, fl.Invalid("csv", wrong.Err, csvRule))
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if first {
			if columns := header(record); columns != nil {
				order = columns
				continue
			}
		}
		if err := c.addRecord(record, order, line); err != nil {
			if _, isNumber := strconv.ParseFloat(record[len(record)-1], 64); first && isNumber != nil {
				return fmt.Errorf("line %d: %w; a header must have the names client, key and value", line, err)
			}
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// header returns where the columns stand, or nil when the record is no header.
func header(record []string) []int {
	var order []int
	for _, name := range csvColumns {
		order = append(order, slices.IndexFunc(record, func(field string) bool {
			return strings.EqualFold(strings.TrimSpace(field), name)
		}))
	}
	if len(record) != len(csvColumns) || slices.Contains(order, -1) {
		return nil
	}
	return order
}

func (c *clientPairs) addRecord(record []string, order []int, line int) error {
	if len(record) == 1 && strings.ContainsAny(record[0], ";\t|") {
		return fl.Invalid("csv", record[0], "must have commas between the fields client,key,value")
	}
	if len(record) == 1 {
		return c.client(strings.Clone(record[0]))
	}
	if len(record) != len(order) {
		return fl.Invalid("csv", fmt.Sprintf("%d fields", len(record)), csvRule)
	}
	client, key, number := strings.Clone(record[order[0]]), record[order[1]], record[order[2]]
	if err := c.client(client); err != nil || key == "" && number == "" {
		return err
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fl.Invalid("value", number, "must be a number in [-1, 1]")
	}
	return c.add(client, key, value, line)
}

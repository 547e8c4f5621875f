package keyvalues

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// limits of a file of pairs. Memory is about 16 bytes for each line, and 100 for each name.
type limits struct {
	bytes      int64
	lines      int // with a pair
	names      int // of clients, and of keys
	lineLength int
}

var pairsLimits = limits{bytes: 4 << 30, lines: 1 << 25, names: 1 << 22, lineLength: 1024}

// readPairsFile reads a file of pairs.
func readPairsFile(ctx context.Context, path string) (*ratings, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > pairsLimits.bytes {
		return nil, fl.Invalid("--pairs", fmt.Sprintf("%d bytes", info.Size()), "must have at most %d", pairsLimits.bytes)
	}
	p, err := readPairs(command.Reader(ctx, f), pairsLimits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// pair is a line: indices of a client and a key, and the place of the line.
type pair struct {
	client, key uint32
	line        uint32
	value       float32
}

// names numbers what it has seen.
type names struct {
	index map[string]uint32
	limit int
}

func (n *names) number(what, name string) (uint32, error) {
	if i, ok := n.index[name]; ok {
		return i, nil
	}
	if name == "" {
		return 0, fl.Invalid(what, name, "must not be empty")
	}
	if len(n.index) >= n.limit {
		return 0, fl.Invalid(what+"s", n.limit+1, "must be at most %d", n.limit)
	}
	i := uint32(len(n.index))
	n.index[strings.Clone(name)] = i
	return i, nil
}

// readPairs reads lines of client, key and value, in any order, with commas between. What follows the
// value, such as a time, is not read, and the first line may be a header. Quotes mean nothing. Values
// are scaled linearly to [−1, 1], from their smallest to their largest. Of several values for a key of a
// client the last one counts. Errors name the line. Errors in a line's content are *fl.ParamErrors (wrapped).
func readPairs(in io.Reader, most limits) (*ratings, error) {
	lines := bufio.NewScanner(io.LimitReader(in, most.bytes))
	lines.Buffer(make([]byte, 0, min(4096, most.lineLength)), most.lineLength)
	clients, keys := names{map[string]uint32{}, most.names}, names{map[string]uint32{}, most.names}
	var all []pair
	low, high := math.Inf(1), math.Inf(-1)
	number := 0
	for lines.Scan() {
		number++
		text := strings.TrimSuffix(lines.Text(), "\r")
		if text == "" {
			continue
		}
		client, key, value, err := splitPair(text)
		if err != nil {
			if number == 1 && errors.Is(err, errNoNumber) {
				continue // a header
			}
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(all) >= most.lines {
			return nil, fmt.Errorf("line %d: %w", number, fl.Invalid("pairs", most.lines+1, "must be at most %d", most.lines))
		}
		i, err := clients.number("client", client)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		j, err := keys.number("key", key)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		low, high = min(low, value), max(high, value)
		all = append(all, pair{i, j, uint32(len(all)), float32(value)})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: %w", number+1, fl.Invalid("line", "a longer one", "must have at most %d bytes", most.lineLength))
	} else if err != nil {
		return nil, err
	}
	if !(low < high) {
		return nil, fl.Invalid("pairs", fmt.Sprintf("%d with one value", len(all)), "must have two different values at least, which are scaled to -1 and 1")
	}
	return grouped(all, len(clients.index), len(keys.index), low, high), nil
}

// errNoNumber is the error of a third field that is not a number.
var errNoNumber = errors.New("not a number")

// splitPair takes a line apart.
func splitPair(text string) (client, key string, value float64, err error) {
	client, rest, ok := strings.Cut(text, ",")
	key, rest, both := strings.Cut(rest, ",")
	if !ok || !both {
		return "", "", 0, fl.Invalid("line", text, "must have the fields client,key,value")
	}
	field, _, _ := strings.Cut(rest, ",")
	value, err = strconv.ParseFloat(strings.TrimSpace(field), 64)
	if err != nil {
		return "", "", 0, errors.Join(fl.Invalid("value", field, "must be a number"), errNoNumber)
	}
	if !(math.Abs(value) <= math.MaxFloat32) {
		return "", "", 0, fl.Invalid("value", field, "must be finite and at most %g", math.MaxFloat32)
	}
	return client, key, value, nil
}

// grouped sorts pairs by client and key, drops all but the last one of a key, and scales the values.
func grouped(all []pair, clients, keys int, low, high float64) *ratings {
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.key, b.key), cmp.Compare(a.line, b.line))
	})
	p := &ratings{dim: keys, first: make([]int, 1, clients+1)}
	for i, q := range all {
		last := i == len(all)-1 || all[i+1].client != q.client
		if !last && all[i+1].key == q.key {
			continue
		}
		// Rounding to float32 may leave the range.
		value := min(max((float64(q.value)-low)/(high-low)*2-1, -1), 1)
		p.pairs = append(p.pairs, rating{q.key, float32(value)})
		if last {
			p.first = append(p.first, len(p.pairs))
		}
	}
	return p
}

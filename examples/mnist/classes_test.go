package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// barred writes n pictures of classes as an idx file and their labels, which are of two bytes and begin with 1. Class c has bars at the places of the bits of c. A
// class is the more frequent the smaller it is.
func barred(t *testing.T, dir, name string, n, classes int) {
	t.Helper()
	rng := rand.New(rand.NewChaCha8([32]byte{byte(n)}))
	pictures, _ := binary.Append(nil, binary.BigEndian, []uint32{0x803, uint32(n), 28, 28})
	labels, _ := binary.Append(nil, binary.BigEndian, []uint32{0xb01, uint32(n)})
	for i := range n {
		class := min(rng.IntN(classes), rng.IntN(classes)) // skewed
		if i < classes {
			class = i // there are all
		}
		for at := range 28 * 28 {
			row, col := at/28, at%28
			v := rng.IntN(30)
			if col%14 < 10 && row%4 < 2 && class>>(row/4*2%10+col/14)&1 == 1 {
				v = 255
			}
			pictures = append(pictures, byte(v))
		}
		labels = binary.BigEndian.AppendUint16(labels, uint16(class+1))
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, name+"-images-idx3-ubyte"), pictures, 0o600), os.WriteFile(filepath.Join(dir, name+"-labels-idx1-ubyte"), labels, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Clients' pictures may have any number of classes, some of them rare: the model learns, and its chance, its size and what is known beforehand are of
// so many classes.
func TestOtherNumbersOfClasses(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, classes := range []int{2, 12, 300} {
		dir, out := t.TempDir(), t.TempDir()
		barred(t, dir, "train", 1200, classes)
		barred(t, dir, "t10k", 300, classes)
		var text bytes.Buffer
		line := []string{"--data", dir, "--out", out, "--classes", strconv.Itoa(classes), "--clients", "1200", "--mechanism", "none", "--rounds", "4", "--seed", "3", "--cohort", "1200", "--features", "glyphs"}
		if code := command.Run(t.Context(), "mnist", mnist, line, command.Streams{Out: &text, Err: io.Discard}); code != 0 {
			t.Fatalf("%d classes: exit code %d\n%s", classes, code, text.String())
		}
		var s struct {
			Accuracy float64  `json:"test_accuracy"`
			Chance   float64  `json:"chance"`
			Dim      int      `json:"dim"`
			ZeroShot *float64 `json:"zero_shot_accuracy"`
		}
		raw, err := os.ReadFile(filepath.Join(out, "summary.json"))
		if err = errors.Join(err, json.Unmarshal(raw, &s)); err != nil {
			t.Fatal(err)
		}
		if s.Chance != 1/float64(classes) || s.Dim != 65*classes || s.ZeroShot != nil || s.Accuracy < 4*s.Chance && s.Accuracy < .9 {
			t.Errorf("%d classes: %+v", classes, s)
		}
	}
}

// What compares clients with public pictures needs the same labels in both.
func TestChecksNeedPublicPicturesOfTheSameLabels(t *testing.T) {
	for _, c := range []struct {
		args []string
		ok   bool
	}{
		{[]string{"--check-steps"}, true}, {[]string{"--check-steps", "--classes", "26"}, true}, {[]string{"--check-steps", "--classes", "30"}, false},
		{[]string{"--public-alarm", "--classes", "300"}, false}, {[]string{"--check-steps", "--public", "textures"}, false}, {[]string{"--classes", "30"}, true},
	} {
		var p *fl.ParamError
		if _, err := parse(c.args, io.Discard); (err == nil) != c.ok || err != nil && (!errors.As(err, &p) || p.Param != "--classes" || !strings.Contains(err.Error(), "--public letters")) {
			t.Errorf("%v: %v", c.args, err)
		}
	}
	for _, args := range [][]string{{"--classes", "1"}, {"--classes", "1001"}, {"--classes", "26", "--public", "digits"}} {
		var p *fl.ParamError
		if _, err := parse(args, io.Discard); !errors.As(err, &p) {
			t.Errorf("%v: %v, want a ParamError", args, err)
		}
	}
}

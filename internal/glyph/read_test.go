package glyph

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestRead(t *testing.T) {
	font, err := openFace("regular")
	if err != nil {
		t.Fatal(err)
	}
	digits, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	three, err := Read(font, '3')
	if err != nil || three.Extent() != digits[3][0].Extent() || three.Stroke() != digits[3][0].Stroke() {
		t.Errorf("a 3: %v, want the 3 of the first face", err)
	}
	for character, param := range map[rune]string{'语': "character", ' ': "ink"} {
		var wrong *fl.ParamError
		if o, err := Read(font, character); o != nil || !errors.As(err, &wrong) || wrong.Param != param {
			t.Errorf("%q: %v, want an error for %s", character, err, param)
		}
	}
}

// A bar of 2×20 has strokes 40/22 wide, and a ring of outer side 10 and width 1 has
// strokes 2·36/72 = 1 wide.
func TestStrokeAndExtent(t *testing.T) {
	hole := box(1, 1, 9, 9)
	slices.Reverse(hole)
	for _, c := range []struct {
		polygons       [][]point
		extent, stroke float64
	}{
		{[][]point{box(3, 0, 5, 20)}, 20, 40. / 22},
		{[][]point{box(0, 0, 10, 10), hole}, 10, 1},
	} {
		o := newOutline(c.polygons)
		if o.Extent() != c.extent || math.Abs(o.Stroke()-c.stroke) > 1e-12 {
			t.Errorf("extent %g and stroke %g, want %g and %g", o.Extent(), o.Stroke(), c.extent, c.stroke)
		}
	}
	if w := (Outline)(nil).Stroke(); w != 0 {
		t.Errorf("stroke %g without ink", w)
	}
}

// The alphabet begins with the digits and the letters of English, has no letter twice in another script, and each is in all faces.
func TestAlphabet(t *testing.T) {
	list, err := Alphabet(1000)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(list[:62]); got != "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		t.Errorf("it begins with %q", got)
	}
	if slices.Contains(list, 'А') || slices.Contains(list, 'Α') || !slices.Contains(list, 'Ж') || len(list) < 250 {
		t.Errorf("%d letters: %q", len(list), string(list))
	}
	if all, err := Characters(list); err != nil || len(all) != len(list) || len(all[0]) != len(names) {
		t.Errorf("%d characters, %v", len(all), err)
	}
	if few, err := Alphabet(30); err != nil || !slices.Equal(few, list[:30]) {
		t.Errorf("%q, %v", string(few), err)
	}
}

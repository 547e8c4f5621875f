package pages

import (
	"strings"
	"testing"
)

const filmHead = `{"version": 2, "width": 80, "height": 24, "title": "go run ./x at 0123456, 2026-01-02, on m"}` + "\n"

// A film has what a terminal shows, and not what was written: a line that was written over is gone at the end.
func TestAFilmShowsTheTerminal(t *testing.T) {
	title, stills, err := readCast([]byte(filmHead + `[1, "o", "bar 1\r\n"]` + "\n" + `[1.1, "i", "typed"]` + "\n" + `[2, "o", "\rbar <2>"]` + "\n" + `[24, "o", "\r       \rtest 0.9\r\n  more\r\n"]` + "\n"))
	if err != nil || !strings.HasPrefix(title, "go run ./x at ") || len(stills) != 3 {
		t.Fatalf("%q, %d stills, %v", title, len(stills), err)
	}
	if got := strings.Join(stills[2].lines[:5], "|"); got != "$ go run ./x|bar 1|test 0.9|  more|" {
		t.Errorf("the last still is %q", got)
	}
	svg := drawFilm(title, "a & b", stills, 2)
	for _, want := range []string{"bar &lt;2&gt;</text>", "a &amp; b</desc>", ".film { transform: translateX(-1328px); animation: film 20.0s step-end infinite; }", "\n0.00% { transform: translateX(-0px); }\n5.00% { transform: translateX(-664px); }\n60.00% { transform: translateX(-1328px); }\n", `textLength="48" xml:space="preserve">  more</text>`, "prefers-reduced-motion"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
}

// What nobody could see is left out: stills that are alike, and those that are too near to the one before.
func TestAFilmLeavesOutWhatNobodySees(t *testing.T) {
	a, b, c := []string{"a"}, []string{"b"}, []string{"c"}
	kept := thin([]still{{0, a}, {1, a}, {2, b}, {2.1, c}, {3, a}, {3.1, b}}, 1)
	if len(kept) != 4 || kept[1].at != 2 || kept[2].lines[0] != "a" || kept[3].lines[0] != "b" {
		t.Errorf("%v", kept)
	}
}

func TestOnlyRecordingsAreFilms(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "x", "version 1": strings.Replace(filmHead, ": 2", ": 1", 1), "narrow": strings.Replace(filmHead, "80", "40", 1), "no title": strings.Replace(filmHead, "title", "name", 1),
		"no output": filmHead, "no event": filmHead + "[1]\n{}\n",
	} {
		if !strings.HasPrefix(name, "no ") || name == "no title" {
			text += `[1, "o", "a"]` + "\n"
		}
		if _, _, err := readCast([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

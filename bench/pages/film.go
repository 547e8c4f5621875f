package pages

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
)

// Limits and look of a film.
const (
	filmColumns, filmRows = 80, 24
	filmSeconds           = 12. // at most, without the end
	filmEnd               = 8.  // seconds for which the last picture stays
	filmStep              = 0.2 // seconds between two pictures, at least
	charWidth, lineHeight = 8, 17
	filmMargin            = 12
)

// still is what a terminal shows from a time on, in seconds.
type still struct {
	at    float64
	lines []string
}

// film returns a recording of a terminal, in asciinema's format of version 2, as a picture that moves, and its place on a page.
func (m *maker) film(file string) (string, error) {
	text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(file)))
	if err != nil {
		return "", fmt.Errorf("pages: %w", err)
	}
	title, stills, err := readCast(text)
	if err != nil {
		return "", fmt.Errorf("pages: %s: %w", file, err)
	}
	faster := max(1, stills[len(stills)-1].at/filmSeconds)
	shown := stills[len(stills)-1].lines
	from := slices.IndexFunc(shown, func(line string) bool { return strings.HasPrefix(line, "test ") })
	if from < 0 {
		return "", fmt.Errorf("pages: %s does not end with a test", file)
	}
	alt := strings.Join(strings.Fields(strings.Join(shown[from:min(from+3, len(shown))], " ")), " ")
	name := strings.TrimSuffix(file, filepath.Ext(file)) + ".svg"
	m.pictures[name] = drawFilm(title, alt, stills, faster)
	command, origin, _ := strings.Cut(title, " at ")
	speed := ""
	if text := fmt.Sprintf("%.1f", faster); text != "1.0" {
		speed = ", shown " + text + " times as fast"
	}
	return fmt.Sprintf("![A terminal in which the demo runs. It ends with: %s](%s)\n\n`%s` at commit %s%s.\n",
		alt, filepath.ToSlash(filepath.Join(m.beside, name)), command, origin, speed), nil
}

// readCast plays a recording. It returns its title, and what the terminal showed.
func readCast(text []byte) (title string, stills []still, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	var head struct {
		Version, Width, Height int
		Title                  string
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Version != 2 || head.Width != filmColumns || head.Height != filmRows || head.Title == "" {
		return "", nil, fmt.Errorf("must begin with asciinema's version 2, width %d, height %d and a title", filmColumns, filmRows)
	}
	terminal := vt10x.New(vt10x.WithSize(filmColumns, filmRows))
	typed, _, _ := strings.Cut(head.Title, " at ")
	if _, err := terminal.Write([]byte("$ " + typed + "\r\n")); err != nil {
		return "", nil, err
	}
	for lines.Scan() {
		var at float64
		var kind, data string
		if err := json.Unmarshal(lines.Bytes(), &[]any{&at, &kind, &data}); err != nil {
			return "", nil, err
		}
		if kind != "o" {
			continue
		}
		if _, err := terminal.Write([]byte(data)); err != nil {
			return "", nil, err
		}
		shown := strings.Split(terminal.String(), "\n")
		for i := range shown {
			shown[i] = strings.TrimRight(shown[i], " ")
		}
		stills = append(stills, still{at, shown})
	}
	if len(stills) == 0 {
		return "", nil, fmt.Errorf("shows nothing")
	}
	return head.Title, stills, lines.Err()
}

// thin keeps the stills that differ, in times that are faster, and no more of them than fit a film.
func thin(stills []still, faster float64) (kept []still) {
	for i, s := range stills {
		s.at /= faster
		last := len(kept) - 1
		switch {
		case last >= 0 && slices.Equal(kept[last].lines, s.lines):
		case last >= 0 && s.at-kept[last].at < filmStep && i < len(stills)-1:
		default:
			kept = append(kept, s)
		}
	}
	return kept
}

// drawFilm draws the stills side by side, and moves them past a window. Whoever wants no motion sees the last one.
func drawFilm(title, alt string, stills []still, faster float64) string {
	stills = thin(stills, faster)
	width, height := filmColumns*charWidth+2*filmMargin, filmRows*lineHeight+2*filmMargin
	whole := stills[len(stills)-1].at + filmEnd
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="t d">
<title id="t">%s</title><desc id="d">%s</desc>
<style>
text { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 13px; fill: #e6edf3; white-space: pre; }
.film { transform: translateX(-%dpx); animation: film %.1fs step-end infinite; }
@media (prefers-reduced-motion: reduce) { .film { animation: none; } }
@keyframes film {
`, width, height, html.EscapeString(title), html.EscapeString(alt), (len(stills)-1)*width, whole)
	for i, s := range stills {
		at := s.at / whole * 100
		if i == 0 {
			at = 0
		}
		fmt.Fprintf(&b, "%.2f%% { transform: translateX(-%dpx); }\n", at, i*width)
	}
	b.WriteString("}\n</style>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#17212b"/>`+"\n<g class=\"film\">\n", width, height)
	for i, s := range stills {
		fmt.Fprintf(&b, `<svg x="%d" width="%d" height="%d">`+"\n", i*width, width, height)
		for row, line := range s.lines {
			if line != "" {
				fmt.Fprintf(&b, `<text x="%d" y="%d" textLength="%d" xml:space="preserve">%s</text>`+"\n", filmMargin, filmMargin+13+row*lineHeight, charWidth*utf8.RuneCountInString(line), html.EscapeString(line))
			}
		}
		b.WriteString("</svg>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

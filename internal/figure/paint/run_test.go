package paint_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

// The command draws each form, and says what it wants otherwise.
func TestTheCommandDraws(t *testing.T) {
	var written bytes.Buffer
	if err := (&figure.Figure{Panels: []figure.Panel{{Series: lines("a")}}}).Write(&written); err != nil {
		t.Fatal(err)
	}
	heads := map[string]string{".png": "\x89PNG", ".svg": "<svg xmlns", ".pdf": "%PDF-"}
	for _, form := range figure.Forms {
		var out bytes.Buffer
		err := paint.Run(t.Context(), []string{form}, command.Streams{In: bytes.NewReader(written.Bytes()), Out: &out, Err: &out})
		if err != nil || !strings.HasPrefix(out.String(), heads[form]) {
			t.Errorf("%s: %v, %.20q", form, err, out.String())
		}
	}
	for want, c := range map[string]struct {
		args []string
		in   string
	}{"must be one of .png, .svg, .pdf": {[]string{".jpg"}, ""}, "it is no figure": {[]string{".svg"}, "curve"}, "form: got": {nil, ""}} {
		if err := paint.Run(t.Context(), c.args, command.Streams{In: strings.NewReader(c.in), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q of %q: %v, want %q", c.args, c.in, err, want)
		}
	}
}

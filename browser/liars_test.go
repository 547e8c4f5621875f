package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The page of a run in which clients lie shows the proved alarm, at each round and above all, and beside it how many coordinates are unlike public pictures. A screen reader
// hears of the alarm with the news.
func TestThePageRaisesTheAlarm(t *testing.T) {
	ctx, seen := start(t)
	d := train(t, "20", "--liars", "0.3", "--public-alarm")
	must(t, ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(d.url))
	until(t, ctx, `document.querySelector("#link").textContent === "Live"`)
	until(t, ctx, `document.querySelector("#past").textContent.includes("alarm: clients lie at ")`)
	until(t, ctx, `document.querySelector("#signal-last").textContent.includes("Alarm: more of its reports agree at ")`)
	until(t, ctx, `document.querySelector("#news").textContent.includes("alarm: clients lie at ")`)
	const unlike = `[data-key="coordinates unlike public pictures"]`
	until(t, ctx, `document.querySelector('#training `+unlike+` tbody td') !== null`)
	d.halt(t, func() {
		accessible(t, ctx, "with an alarm")
		shoot(t, ctx, 1280, 900, "light", "alarm-1280-light")
		if n := value[int](t, ctx, `Number(document.querySelector('#training `+unlike+` tbody td').textContent)`); n < 1 {
			t.Errorf("%d coordinates are unlike public pictures, want the one of the lies", n)
		}
	})
	<-d.ended
	if d.err != nil {
		t.Fatalf("the demo: %v\n%s", d.err, &d.out)
	}
	if out := d.out.String(); strings.Count(out, " alarm: clients lie.") != 1 || strings.Count(out, "public alarm: ") != 1 {
		t.Errorf("the demo has not printed each alarm once:\n%s", out)
	}
	seen.check(t, 20, 300)
}

package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// page starts examples/draw until the test ends, and returns the address of its page.
func page(t *testing.T, args ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "draw")
	inModule(t, "go", "build", "-o", binary, "./examples/draw")
	run := exec.CommandContext(t.Context(), binary, append([]string{"--sdk", built(t)}, args...)...)
	stderr, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	url, said := make(chan string, 1), new(strings.Builder)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(said, lines.Text())
			if found := regexp.MustCompile(`draw: (http\S+)`).FindStringSubmatch(lines.Text()); found != nil {
				url <- found[1]
			}
		}
		_ = run.Wait()
	}()
	t.Cleanup(func() { <-ended }) // the test's context kills it
	select {
	case found := <-url:
		return found
	case <-ended:
		t.Fatalf("the page has ended:\n%s", said)
	case <-time.After(2 * time.Minute):
		t.Fatal("there is no page")
	}
	return ""
}

// strokes is a seven, drawn by a pointer.
const strokes = `(() => {
	const canvas = document.querySelector("#canvas"), frame = canvas.getBoundingClientRect();
	const point = (name, x, y) => canvas.dispatchEvent(new PointerEvent(name, { pointerId: 1, clientX: frame.left + x, clientY: frame.top + y }));
	canvas.setPointerCapture = () => {};
	point("pointerdown", 75, 70);
	for (let i = 1; i <= 20; i++) point("pointermove", 75 + 6 * i, 70);
	for (let i = 1; i <= 20; i++) point("pointermove", 195 - 3.5 * i, 70 + 7.5 * i);
	point("pointerup", 125, 220);
})()`

// derivative is the largest distance of the page's gradient from difference quotients of the loss at some
// weights and biases. With steps of 1e-4 they are 1e-8 away from the derivative.
const derivative = `import("/softmax.js").then(({ gradient, probabilities, side, classes }) => {
	const picture = Float64Array.from({ length: side * side }, (_, i) => (i * 37 % 101) / 100);
	const params = Float64Array.from({ length: (side * side + 1) * classes }, (_, i) => (i * 7919 % 1000) / 1e5 - 0.005);
	const loss = () => -Math.log(probabilities(params, picture)[3]);
	const found = gradient(params, picture, 3);
	let most = found.length === 7850 ? 0 : Infinity;
	for (const i of [0, 3, 4, 1013, 5003, 7839, 7840, 7843, 7849]) {
		const at = params[i];
		params[i] = at + 1e-4;
		const up = loss();
		params[i] = at - 1e-4;
		const down = loss();
		params[i] = at;
		most = Math.max(most, Math.abs((up - down) / 2e-4 - found[i]));
	}
	return most;
})`

// A visitor draws a digit and sends a report. Nothing but that report, of the size that its round has,
// leaves the tab, and a policy that the round does not meet lets nothing leave.
func TestADrawingStaysInItsTab(t *testing.T) {
	ctx, seen := start(t)
	url := page(t)
	must(t, ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url))
	until(t, ctx, `document.body.dataset.ready === "yes"`)
	asked := seen.requests()
	if len(asked) != 2 && len(asked) != 4 { // with preflights, where the browser shows them
		t.Errorf("to begin with the page sends %q, want GetModel and GetRound", asked)
	}
	if text := value[string](t, ctx, `document.querySelector("#promise").textContent`); !strings.HasPrefix(text, "One report costs ε = 4, against everybody, the server included.") {
		t.Errorf("the page promises %q", text)
	}
	accessible(t, ctx, "before a drawing")
	must(t, ctx, chromedp.Evaluate[chromedp.Void](strokes))
	until(t, ctx, `!document.querySelector("#send").disabled`)
	if text := value[string](t, ctx, `document.querySelector("#guess").textContent`); !strings.HasPrefix(text, "The model sees a 7") {
		t.Errorf("of a seven the page says %q", text)
	}
	if left := seen.requests(); len(left) != 0 {
		t.Errorf("drawing sends %q", left)
	}
	if wrong := got(t, ctx, chromedp.Evaluate[float64](derivative, chromedp.EvalAwaitPromise)); wrong > 1e-6 {
		t.Errorf("the gradient is %g away from the difference quotients", wrong)
	}

	must(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("#send").click()`))
	until(t, ctx, `document.querySelector("#sent").textContent !== "" && !document.querySelector("#send").disabled`)
	if text := value[string](t, ctx, `document.querySelector("#sent").textContent`); text != "Sent: a report of 6 bytes. The drawing is still only here." {
		t.Errorf("the page says %q", text)
	}
	left := slices.DeleteFunc(seen.requests(), func(r sent) bool { return r.method == "OPTIONS" })
	if len(left) != 2 || !strings.HasSuffix(left[0].url, "/hushgrad.v1.Rounds/SubmitBatch") || !strings.HasSuffix(left[1].url, "/GetRound") || left[1].body != `{"roundId":""}` {
		t.Fatalf("sending sends %q, want SubmitBatch and GetRound", left)
	}
	var message map[string]string
	if err := json.Unmarshal([]byte(left[0].body), &message); err != nil {
		t.Fatal(err)
	}
	for name, length := range map[string]int{"roundDigest": 32, "batchKey": 16, "reports": 6} {
		if data, err := base64.StdEncoding.DecodeString(message[name]); err != nil || len(data) != length {
			t.Errorf("%s has %d bytes, want %d: %v", name, len(data), length, err)
		}
	}
	if len(message) != 4 || message["roundId"] != "draw" {
		t.Errorf("the message is %v", message)
	}

	must(t, ctx, chromedp.Evaluate[chromedp.Void](`(() => { const limit = document.querySelector("#limit"); limit.value = "1"; limit.dispatchEvent(new Event("change")); })()`))
	until(t, ctx, `document.querySelector("#promise").textContent.startsWith("Refused by your policy")`)
	if !value[bool](t, ctx, `document.querySelector("#send").disabled`) {
		t.Error("a round that the policy refuses can be sent to")
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int{{360, 740}, {1280, 900}} {
			shoot(t, ctx, size[0], size[1], scheme, fmt.Sprintf("draw-%d-%s", size[0], scheme))
			accessible(t, ctx, fmt.Sprintf("%d px, %s", size[0], scheme))
		}
	}
	for _, r := range seen.requests() {
		if r.method != "OPTIONS" && r.body != `{"roundId":""}` {
			t.Errorf("after a refusal the page sends %q", r)
		}
	}
	seen.check(t, 1000, 4000)
}

package browser

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// built builds the npm package, once for all tests, and returns its directory.
func built(t *testing.T) string {
	t.Helper()
	build.Do(func() {
		if build.dir, build.err = os.MkdirTemp("", "hushgrad-web-"); build.err == nil {
			inModule(t, "go", "run", "./bridge/web", "--out", build.dir)
		}
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	return build.dir
}

var build struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(build.dir)
	os.Exit(code)
}

// open opens an empty page that has the package at /sdk/ and the vectors beside it. run returns what
// the body of a function returns there, "nothing" if it does not, or the parts of the error that it throws.
func open(t *testing.T, more ...chromedp.ExecAllocatorOption) (run func(expression string) string, origin string, seen *seen) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/sdk/", http.StripPrefix("/sdk/", http.FileServer(http.Dir(built(t)))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>sdk</title>`))
	})
	mux.HandleFunc("/vectors.json", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("..", "bridge", "web", "testdata", "vectors.json"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	ctx, seen := start(t, more...)
	must(t, ctx, chromedp.Navigate(server.URL+"/"))
	return func(expression string) string {
		t.Helper()
		return got(t, ctx, chromedp.Evaluate[string](`(async () => {
			const web = await import("/sdk/index.js");
			const began = performance.now();
			await web.load();
			const loaded = performance.now() - began;
			try { return (await (async () => { `+expression+` })()) ?? "nothing"; } catch (error) { return [error.kind, error.param, error.got, error.rule, error.message].join(" | "); }
		})()`, chromedp.EvalAwaitPromise))
	}, server.URL, seen
}

// For the same randomness a report has the bytes of the Go client's, and so have a token and the request for it.
func TestReportsHaveTheBytesOfGo(t *testing.T) {
	run, _, seen := open(t)
	if wrong := run(`
		const vectors = await (await fetch("/vectors.json")).json();
		const real = crypto.getRandomValues.bind(crypto);
		let wrong = vectors.cases.length < 5 ? "few cases" : "";
		for (const c of vectors.cases) {
			const round = web.joinRound(c.round, { maxEpsilon: Infinity, maxDelta: 1, acceptRealNumbers: true });
			const gradient = Float64Array.from({ length: round.dim }, (_, i) => ((i * 7919) % 1000) / 1000 - 0.5);
			const seed = Uint8Array.from(c.seed.match(/../g), (pair) => parseInt(pair, 16));
			crypto.getRandomValues = (array) => { new Uint8Array(array.buffer, array.byteOffset, array.byteLength).forEach((_, i, a) => (a[i] = seed[i % seed.length])); return array; };
			const report = round.encode(gradient);
			crypto.getRandomValues = real;
			const hex = Array.from(report, (b) => b.toString(16).padStart(2, "0")).join("");
			if (hex !== c.report) wrong += c.name + ": " + hex.slice(0, 80) + ", want " + c.report.slice(0, 80) + "\n";
		}
		const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
		const base64 = (text) => btoa(String.fromCharCode(...bytes(text)));
		if (vectors.tokens.length < 1) wrong += "no tokens";
		for (const c of vectors.tokens) {
			crypto.getRandomValues = (array) => { new Uint8Array(array.buffer, array.byteOffset, array.byteLength).forEach((_, i, a) => (a[i] = bytes(c.seed)[i % 32])); return array; };
			const round = web.joinRound(c.round, { maxEpsilon: 4 });
			if (round.tokenRequests()[0].blindedMessage !== base64(c.blinded)) wrong += "another blinded message\n";
			round.takeTokens([bytes(c.signature)]);
			round.encode(Float64Array.from({ length: round.dim }, (_, i) => ((i * 7919) % 1000) / 1000 - 0.5));
			crypto.getRandomValues = real;
			const { tokens, reports, batchKey } = round.message();
			if (tokens !== base64(c.token) || reports !== base64(c.report) || batchKey !== undefined) wrong += "another message with a token: " + JSON.stringify(round.message()) + "\n";
		}
		return wrong;`); wrong != "" {
		t.Errorf("reports differ:\n%s", wrong)
	}
	seen.check(t, 1000, 4000)
}

// The lines of the README load the program in Node, where fetch reads no file. Without them the error says what to give.
func TestNodeLoadsTheProgram(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	readme, err := os.ReadFile(filepath.Join("..", "bridge", "web", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(readme), "Node cannot fetch a file, so that a program there reads it:\n\n```js\n")
	lines, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("the README has no lines for Node")
	}
	vectors, err := filepath.Abs(filepath.Join("..", "bridge", "web", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "node_modules"), 0o755), os.Symlink(built(t), filepath.Join(dir, "node_modules", "hushgrad"))); err != nil {
		t.Fatal(err)
	}
	program := `import { joinRound, load } from "hushgrad";
try { await load(); } catch (error) { console.log(error.kind, error.param, error.rule.slice(0, 38)); }
` + lines + `
const { cases } = JSON.parse(await readFile(` + strconv.Quote(vectors) + `));
const tab = joinRound(cases[0].round, { maxEpsilon: 4 });
console.log(tab.encode(new Float64Array(tab.dim)).length === tab.reportBytes);
`
	file := filepath.Join(dir, "program.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.CommandContext(t.Context(), node, file).CombinedOutput()
	if want := "param source must be the bytes of hushgrad.wasm.gz,\ntrue\n"; err != nil || string(printed) != want {
		t.Errorf("node prints %q, %v, want %q", printed, err, want)
	}
}

// Errors say what is wrong, what it was and what the rule is.
func TestErrorsOfThePackageNameWhatIsWrong(t *testing.T) {
	run, _, _ := open(t)
	const join = `const { cases } = await (await fetch("/vectors.json")).json(); const round = cases[0].round; const p = web.joinRound(round, { maxEpsilon: 4 });`
	const answered = `const answered = async (text, status, call) => { const real = fetch; globalThis.fetch = async () => new Response(text, { status });
		try { return await call(new web.Client("http://a.example", { policy: { maxEpsilon: 4 }, attempts: 1 })); } finally { globalThis.fetch = real; } };`
	const tokens = `const { tokens } = await (await fetch("/vectors.json")).json(); const p = web.joinRound(tokens[0].round, { maxEpsilon: 4 });`
	for expression, want := range map[string]string{
		join + `return p.guarantee;`: "One report costs ε = 4, against everybody, the server included. Reports of several rounds add up.",
		join + `return web.joinRound(JSON.stringify(round), { maxEpsilon: 4 }).id;`:    "vectors",
		join + `web.joinRound(round, { maxEpsilon: 1 });`:                              "policy | epsilon | 4 | must be at most 1 | ",
		join + `web.joinRound({ ...round, dim: 0 }, { maxEpsilon: 4 });`:               "param | dim | 0 | ",
		join + `web.joinRound({ ...round, dimm: 1 }, { maxEpsilon: 4 });`:              "param | round | ",
		join + `web.joinRound(round, { maxEps: 4 });`:                                  "param | maxEps | \"a value\" | must be left out",
		join + `web.joinRound(round, { maxEpsilon: 4, minReports: NaN });`:             "param | policy.minReports | NaN | must be a number",
		join + `web.joinRound(round, { maxEpsilon: 4, minReports: null });`:            "param | policy.minReports | null | must be a number",
		join + `web.joinRound(round, { maxEpsilon: 4, maxDelta: -Infinity });`:         "param | policy.maxDelta | -Infinity | ",
		join + `web.joinRound(round, { maxEpsilon: "4" });`:                            "param | policy.maxEpsilon | ",
		join + `web.joinRound(round, { maxEpsilon: 4, minReports: 1e9 });`:             "policy | minReports | ",
		join + `web.joinRound(new Uint8Array(2), { maxEpsilon: 4 });`:                  "param | description | \"2 bytes\" | ",
		join + `web.joinRound(round);`:                                                 "param | policy | undefined | must say at least maxEpsilon",
		join + `web.joinRound({ ...round, issuerKey: "AAAA" }, { maxEpsilon: 4 });`:    "issuerKey | ",
		join + `p.encode([1, 2]);`:                                                     "param | gradient | Array | must be a Float32Array or a Float64Array",
		join + `p.encode(new Float64Array(3));`:                                        "param | gradient | 3 numbers | must have 7850",
		join + `p.encode(new Float64Array(p.dim).fill(NaN));`:                          "NaN",
		join + `p.encode(new Float32Array(p.dim)); p.encode(new Float32Array(p.dim));`: "param | encode | a second report | must be called once",
		join + `p.message();`:       "param | report | nothing | ",
		join + `p.tokenRequests();`: "param | round | vectors | must ask for tokens",
		tokens + `return [p.asksForToken, p.hasToken, p.tokenRequests()[0].tokenKeyId.length].join(" ");`:          "true false 44",
		tokens + `return "" + (p.tokenRequests()[0].blindedMessage === p.tokenRequests()[0].blindedMessage);`:      "true",
		tokens + `p.encode(new Float64Array(p.dim));`:                                                              `param | token | "nothing" | must be there before a report is made`,
		tokens + `p.takeTokens(["signature"]);`:                                                                    "param | blindSignatures | String | must be Uint8Arrays",
		tokens + `p.takeTokens([new Uint8Array(256)]);`:                                                            "param | blindSignature | ",
		`new web.Client("http://a.example", { policy: {}, issuer: { url: "http://127.0.0.1", secret: "x" } });`:    "param | issuer.url | http://127.0.0.1 | must be https",
		`new web.Client("http://a.example", { policy: {}, issuer: { url: "https://a.example", secret: "x\n" } });`: "param | issuer.secret | another text | ",
		`await new web.Client("http://a.example", { policy: {} }).fetchToken({});`:                                 "param | issuer | nothing | is required",
		`new web.Client("nowhere", { policy: {} });`:                                                               "param | url | nowhere | must be an absolute URL",
		`await new web.Client("http://127.0.0.1:1", { policy: { maxEpsilon: 4 } }).join();`:                        "server | GetRound | unavailable | http://127.0.0.1:1 must answer and name the origin",
		answered + `await answered("<html>", 200, (c) => c.join());`:                                               "server | GetRound | unknown | the answer must be the JSON of a hushgrad server: <html>",
		answered + `await answered("<html>\n </html>", 404, (c) => c.model());`:                                    "server | GetModel | unknown | status 404: <html> </html>",
		answered + `await answered("busy", 503, (c) => c.join());`:                                                 "server | GetRound | unavailable | status 503: busy",
		answered + `await answered("{\"code\": \"not_found\"}", 404, (c) => c.join());`:                            "server | GetRound | not_found | ",
		`let asked = 0; const real = fetch; globalThis.fetch = async () => (asked++, new Response("busy", { status: 503 }));
			try { await new web.Client("http://a.example", { policy: { maxEpsilon: 4 }, attempts: 3 }).join(); } catch { return asked + " times"; } finally { globalThis.fetch = real; }`: "3 times",
		`await (await import("/sdk/index.js?1")).load(new Uint8Array([1, 2, 3]));`:                        "param | source | other bytes | must be the bytes of hushgrad.wasm.gz",
		`await (await import("/sdk/index.js?2")).load("/nothing");`:                                       "param | source | /nothing | must be the bytes of hushgrad.wasm.gz, or a URL from which fetch gets them: status 404",
		`await new web.Client("http://a.example", { policy: {} }).submit();`:                              "param | participant | undefined | must be what join has returned",
		`return [0, 0.1234501, 4, 1e-7, 99999, Infinity].map(web.above).join(" ");`:                       "0 0.1235 4 1e-7 100000 ∞",
		`const c = new web.Client("http://127.0.0.1:1", { policy: {}, attempts: 1 }); return "" + c.url;`: "http://127.0.0.1:1/",
	} {
		if said := run(expression); !strings.Contains(said, want) {
			t.Errorf("%s\nsays %q, want %q", expression, said, want)
		}
	}
}

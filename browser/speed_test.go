package browser

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What the package weighs, and what it takes in a tab to load it and to make a report. docs/http.md has the
// lines that -v prints, from docs/results/web-speed.
func TestTheTimeOfAReport(t *testing.T) {
	file, err := os.Open(filepath.Join(built(t), "hushgrad.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	program, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.Copy(io.Discard, program)
	if err != nil {
		t.Fatal(err)
	}
	if packed.Size() > 4e6 {
		t.Errorf("the program has %d bytes with gzip, want at most 4 MB", packed.Size())
	}
	run, _, _ := open(t)
	said := run(`
		const { cases } = await (await fetch("/vectors.json")).json();
		const gradient = new Float64Array(7850).map((_, i) => ((i * 7919) % 1000) / 1000 - 0.5);
		const calls = 40;
		let least = Infinity;
		for (let turn = 0; turn < 25; turn++) {
			const tabs = Array.from({ length: calls }, () => web.joinRound(cases[0].round, { maxEpsilon: 4 }));
			const start = performance.now();
			for (const tab of tabs) tab.encode(gradient);
			least = Math.min(least, performance.now() - start);
		}
		return "load: " + loaded.toFixed(0) + " ms in Chromium\nd = 7850: " + (1000 * least / calls).toFixed(0) + " us in Chromium";`)
	t.Logf("\nhushgrad.wasm: %.1f MB, %.1f MB with gzip\n%s", float64(plain)/1e6, float64(packed.Size())/1e6, said)
}

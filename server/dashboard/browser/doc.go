// Package browser tests the dashboard in Chromium: a training run of examples/mnist is watched from its
// first round to its last. It needs a Chromium in PATH, and fails without one. It is a module of its
// own, so that hushgrad needs no browser. Start with:
//
//	go test -artifacts -outputdir DIR . # screenshots go below DIR
//
// testdata/axe has axe-core 4.14.1 (npm package axe-core: axe.min.js and its licences, unchanged),
// which looks for what keeps people from using a page.
package browser

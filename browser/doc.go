// Package browser tests in Chromium what people and pages use there: the dashboard, watched from the
// first round of examples/mnist to its last; the npm package bridge/web; the page of examples/draw; and the site of
// the documentation. It needs a Chromium in PATH, and fails without one. It is a module of its own, so that
// hushgrad needs no browser. Start with:
//
//	go test -artifacts -outputdir DIR . # screenshots go below DIR
//	go test -run Site -site ../out/site -lighthouse node_modules/.bin/lighthouse . # after make site and npm install lighthouse
//
// testdata/axe has axe-core 4.14.1 (npm package axe-core: axe.min.js and its licences, unchanged),
// which looks for what keeps people from using a page.
package browser

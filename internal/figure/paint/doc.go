// Package paint draws figures as PNG, SVG or PDF, so that all pictures look alike. Use it in the laboratory, in the demo
// and in hushgrad-draw: hushgrad itself does not link it, since its fonts and libraries are 6 MB. Start with [SVG].
package paint

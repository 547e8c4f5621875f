// Package figure draws the pictures of the commands: panels of curves, marks and bars with
// error bars, as PNG, SVG or PDF. Use it wherever a command writes a picture, so that all of
// them look alike. Start with [Figure] and [Figure.WritePNG].
package figure

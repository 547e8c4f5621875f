// Package figure draws the PNG pictures of the commands: panels of curves, points and
// bars with error bars. Use it wherever a command writes a picture, so that all of them
// look alike. Start with [Figure] and [Figure.WritePNG].
package figure

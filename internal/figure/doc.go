// Package figure describes pictures: panels of curves, marks and bars with error bars. Use it wherever a
// command makes a picture. Start with [Figure]. Package paint below it draws the figure.
package figure

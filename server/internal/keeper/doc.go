// Package keeper has journals that remember how their commits went. Use [Prober] where a full disk is
// to be noticed before work is done, and [Stopper] where nothing may be written after a write of which
// it is unknown what it has written. Start with [NewProber] and [NewStopper].
package keeper

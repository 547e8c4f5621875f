// Package setclock sets the clock of one process, as an operator or NTP sets the clock of a machine. Use it to test what a
// process does when its clock is a day off. Start with [Follow].
// It needs Linux on amd64, the build tag setclock, and the linker's flag -checklinkname=0.
//
// The time of day changes, and the monotonic clock does not: timers, and the time between two calls of time.Now, go on.
package setclock

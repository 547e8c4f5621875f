// Package outage lets tests that kill a process cut its power as well. Use it where a process is killed and must find what it
// has acknowledged. Where the environment names a directory that package bench/powercut
// has mounted, what was not synced is forgotten then. Elsewhere nothing is. Start with [Disk].
package outage

import (
	"os"
	"path/filepath"
	"testing"
)

// Place is the variable of the environment that names the directory.
const Place = "HUSHGRAD_TEST_POWER"

// Disk returns a new directory for a test: a disk that can lose its power, if there are such disks.
func Disk(t testing.TB, name string) string {
	t.Helper()
	if os.Getenv(Place) == "" {
		return t.TempDir()
	}
	disk := filepath.Join(os.Getenv(Place), name)
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	return disk
}

// Possible says whether there is power to cut. A process may then end with an error before it is killed.
func Possible() bool { return os.Getenv(Place) != "" }

// During cuts the power of a disk, calls kill, and brings the power back. The disk is from Disk.
func During(t testing.TB, disk string, kill func()) {
	t.Helper()
	Tell(t, "cut", disk)
	kill()
	Tell(t, "restore", disk)
}

// Tell says what happens to a disk, if it can: cut, restore, freeze, thaw or order.
func Tell(t testing.TB, what, disk string) {
	t.Helper()
	if os.Getenv(Place) == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(os.Getenv(Place), "power"), []byte(what+" "+filepath.Base(disk)), 0o600); err != nil {
		t.Fatal(err)
	}
}

//go:build unix

package firststeps

import (
	"os/exec"
	"syscall"
)

// apart puts a command into a group of processes of its own: what go run has started ends with it.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end asks the processes of a command to end.
func end(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

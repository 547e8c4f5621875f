package parties

import (
	"os/exec"
	"syscall"
)

const endsWithParent = true

// endWithParent interrupts the process when this one ends, however that happens.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

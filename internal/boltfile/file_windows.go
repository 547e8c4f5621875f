package boltfile

import (
	"os"

	"golang.org/x/sys/windows"
)

// openFile is os.OpenFile for a file of bbolt that Create may rename while it is open: Windows lets that happen to files alone
// whose handles all share deletion, and os.OpenFile's do not.
func openFile(name string, flag int, _ os.FileMode) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	access, how := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	switch flag & (os.O_CREATE | os.O_TRUNC) {
	case os.O_CREATE:
		how = windows.OPEN_ALWAYS
	case os.O_CREATE | os.O_TRUNC:
		how = windows.CREATE_ALWAYS
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(path, access, share, nil, how, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}

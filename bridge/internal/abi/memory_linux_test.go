package abi

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hushgrad/hushgrad/fl"
)

// newMemory makes memory as the Python package does, with these bytes in it.
func newMemory(t *testing.T, seals int, data []byte) (descriptor int) {
	t.Helper()
	descriptor, err := unix.MemfdCreate("test", unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Skip(err)
	}
	if _, err := unix.Write(descriptor, data); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(descriptor), unix.F_ADD_SEALS, seals); err != nil {
		t.Fatal(err)
	}
	return descriptor
}

// A payload in the memory of the two is answered as one in the pipe.
func TestAPayloadInMemoryIsOneInThePipe(t *testing.T) {
	c := newCaller(t)
	_, description := c.must("round.new", small, nil)
	memory, err := OpenMemory(newMemory(t, unix.F_SEAL_SHRINK, append(description, 1, 2, 3)))
	if err != nil {
		t.Fatal(err)
	}
	const header = `{"op": "round.open", "args": {"policy": null}}`
	ask := func(payload uint64, rest []byte) (answer, canonical []byte) {
		t.Helper()
		in := append(append(prefixed(uint32(len(header)), payload), header...), rest...)
		var out bytes.Buffer
		if err := Serve(context.Background(), bytes.NewReader(in), &out, memory); err != nil {
			t.Fatal(err)
		}
		answers := &frameReader{in: &out}
		if _, _, err := answers.next(); err != nil { // the greeting
			t.Fatal(err)
		}
		if answer, canonical, err = answers.next(); err != nil {
			t.Fatal(err)
		}
		return answer, canonical
	}
	inPipe, want := ask(uint64(len(description)), description)
	inMem, got := ask(uint64(len(description))|inMemory, nil)
	if !bytes.Equal(inMem, inPipe) || !bytes.Equal(got, want) || !bytes.Equal(got, description) {
		t.Errorf("in memory %s, in the pipe %s", inMem, inPipe)
	}
}

func TestMemoryThatIsNotThereIsNotRead(t *testing.T) {
	memory, err := OpenMemory(newMemory(t, unix.F_SEAL_SHRINK, make([]byte, 100)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		memory *Memory
		bytes  uint64
		sound  bool
	}{{memory, 0, true}, {memory, 100, true}, {memory, 101, false}, {memory, inMemory - 1, false}, {nil, 1, false}, {nil, 0, true}} {
		frames := &frameReader{in: bytes.NewReader(prefixed(0, c.bytes|inMemory)), memory: c.memory}
		_, payload, err := frames.next()
		var param *fl.ParamError
		if c.sound && (err != nil || len(payload) != int(c.bytes)) || !c.sound && (!errors.As(err, &param) || param.Param != "payload") {
			t.Errorf("%d bytes: %d, %v", c.bytes, len(payload), err)
		}
	}
}

// Memory that could shrink would end the program when it is read.
func TestOnlySealedMemoryIsShared(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	for name, descriptor := range map[string]int{
		"not sealed": newMemory(t, 0, []byte{1}), "empty": newMemory(t, unix.F_SEAL_SHRINK, nil), "a pipe": pipe[0], "nothing": -1,
	} {
		var param *fl.ParamError
		if _, err := OpenMemory(descriptor); !errors.As(err, &param) || param.Param != "memory" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package main

import (
	"context"
	"io"
	"os"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
)

// openInput opens the file of a name, or standard input for -. Its error is about param.
func openInput(param, name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fl.Invalid(param, name, "must be readable: %v", err)
	}
	return file, nil
}

// withInput reads the file of a name, or standard input for -, until ctx ends. The bar shows
// how much of a file was read.
func withInput(ctx context.Context, name string, stdin io.Reader, bar *progress.Bar, use func(io.Reader) error) error {
	if name == "-" {
		return use(command.Reader(ctx, stdin))
	}
	file, err := os.Open(name)
	if err != nil {
		return fl.Invalid("file", name, "must be readable: %v", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fl.Invalid("file", name, "must be a file, not a directory")
	}
	bar.Grow(int(info.Size() / stepBytes))
	return use(command.Reader(ctx, &stepReader{r: file, bar: bar}))
}

// stepBytes are read in one step of a bar.
const stepBytes = 1 << 18

// stepReader counts the steps.
type stepReader struct {
	r           io.Reader
	bar         *progress.Bar
	read, steps int64
}

func (s *stepReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for s.read += int64(n); s.steps < s.read/stepBytes; s.steps++ {
		s.bar.Step()
	}
	return n, err
}

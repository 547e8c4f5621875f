package disk

// WithFree gives the options a disk of the test's own.
func (o Options) WithFree(free func(dir string) (uint64, error)) Options {
	o.free = free
	return o
}

// Break closes the file behind the journal's back, so that nothing can be written.
func (j *Journal) Break() error { return j.file.Descriptor.Close() }

// Seal returns a value with the checksum of its pair.
var Seal = seal

package sparse

// Definition returns what a mechanism supplied, for the tests of all slotted mechanisms.
func (s *Scheme) Definition() Definition { return s.definition }

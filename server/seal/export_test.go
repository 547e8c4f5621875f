package seal

// TagOf is tagOf for tests.
func TagOf(key, share []byte) []byte { return tagOf(key, share) }

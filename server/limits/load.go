package limits

// Load is what one listener of a server or a shuffler has to bear, and what the party did about it.
type Load struct {
	Connections, Streams     int64
	HeldBytes, DecodingBytes int64
	// Since the start: connections closed because there were too many, because they held too
	// much, or because they gave up their calls, and calls ended because their peers made no
	// progress.
	EvictedFull, EvictedMemory, EvictedResets, Stalled int64
}

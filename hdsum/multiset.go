package hdsum

import (
	"cmp"
	"slices"
)

// Message is one message of one instance, or Count equal ones.
type Message struct {
	Instance uint32
	// Value is a signed integer of at most U' with GKMPS and a share in {0, …, q−1}
	// with BBGN.
	Value int64
	Count int64 // at least 1
}

// Multiset is what one client sends: its messages by instance and value, strictly
// increasing. The order in which they were drawn is gone.
type Multiset []Message

// Messages is the number of messages, equal ones counted as often as they occur.
func (m Multiset) Messages() int64 {
	var total int64
	for _, message := range m {
		total += message.Count
	}
	return total
}

// compareMessages orders messages by instance, then by value.
func compareMessages(a, b Message) int {
	if c := cmp.Compare(a.Instance, b.Instance); c != 0 {
		return c
	}
	return cmp.Compare(a.Value, b.Value)
}

// canonical sorts messages and merges equal ones, in place.
func canonical(messages []Message) Multiset {
	slices.SortFunc(messages, compareMessages)
	kept := messages[:0]
	for _, message := range messages {
		if last := len(kept) - 1; last >= 0 && kept[last].Instance == message.Instance && kept[last].Value == message.Value {
			kept[last].Count += message.Count
			continue
		}
		kept = append(kept, message)
	}
	return kept
}

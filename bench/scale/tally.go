package scale

// tally is what happened in a part of a round.
type tally struct {
	seconds         float64
	server, devices float64 // seconds of processor time
	memory          float64 // the largest of the server, in bytes
	accepted        float64 // reports that the server says it counted
	duplicates      float64 // reports that the server says it had counted before
	sent            float64 // reports sent in time, once each
	resent          float64 // reports sent a second time
	late, dropped   float64 // reports, clients
	bytes           float64 // of all messages
	honest, lies    [pool]float64
}

// numbers lists all fields, to be read and set.
func (t *tally) numbers() []*float64 {
	all := []*float64{&t.seconds, &t.server, &t.devices, &t.memory, &t.accepted, &t.duplicates, &t.sent, &t.resent, &t.late, &t.dropped, &t.bytes}
	for g := range t.honest {
		all = append(all, &t.honest[g], &t.lies[g])
	}
	return all
}

// values are the fields as a checkpoint keeps them.
func (t *tally) values() (out []float64) {
	for _, v := range t.numbers() {
		out = append(out, *v)
	}
	return out
}

// add adds what values returned for another part.
func (t *tally) add(values []float64) {
	memory := t.memory
	for i, v := range t.numbers() {
		if i < len(values) {
			*v += values[i]
		}
	}
	t.memory = max(memory, t.memory-memory)
}

// count counts a message that is sent in time.
func (t *tally) count(m *message, size int) {
	t.sent += float64(m.reports)
	t.bytes += float64(size)
	for g := range t.honest {
		t.honest[g] += float64(m.honest[g])
		t.lies[g] += float64(m.lies[g])
	}
}

// liars is the number of reports that are lies.
func (t *tally) liars() (n float64) {
	for _, v := range t.lies {
		n += v
	}
	return n
}

// truth is the mean of the gradients of all clients that were counted, and told the part of those
// that did not lie, over the same number.
func (p *population) truth(t *tally) (mean, told []float64) {
	mean, told = make([]float64, p.dim), make([]float64, p.dim)
	for g, grad := range p.gradients {
		honest, all := t.honest[g]/t.sent, (t.honest[g]+t.lies[g])/t.sent
		for j, v := range grad {
			told[j] += honest * v
			mean[j] += all * v
		}
	}
	return mean, told
}

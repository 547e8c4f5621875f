package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
)

// daemon are the flags of commands that run until they are interrupted: a listener for
// clients, what is kept, and what is said of it.
type daemon struct {
	listen     string
	listening  listening
	state      state
	monitoring monitoring
	logging    logging
	flags      *flag.FlagSet // of the command
}

// bind binds the flags. role is the command, and the port is the default address's.
func (d *daemon) bind(f *flag.FlagSet, role string, port int) {
	d.flags = f
	f.StringVar(&d.listen, "listen", fmt.Sprintf("127.0.0.1:%d", port), "`address` for clients")
	d.state.bind(f, role)
	d.logging.bind(f)
	command.Topic(f, "TLS", d.listening.bind)
	command.Topic(f, "Watching", d.monitoring.bind)
}

func (d *daemon) validate() error {
	return cmp.Or(d.listening.validate("--listen", d.listen), d.monitoring.validate(d.listening), d.state.validate())
}

// ofFlag returns an error about the configuration as an error about the flag that sets it.
func (d *daemon) ofFlag(err error) error { return command.OfFlag(d.flags, err, nil) }

// open opens the listener.
func (d *daemon) open() (net.Listener, error) { return listenAt("--listen", d.listen) }

// operated are the flags of a daemon that has an operator: a listener for that party, and who
// it is.
type operated struct {
	daemon
	operatorListen string
	operators      callers
}

// bind binds the flags as a daemon's.
func (o *operated) bind(f *flag.FlagSet, role string, clientsPort, operatorPort int) {
	f.StringVar(&o.operatorListen, "operator-listen", fmt.Sprintf("127.0.0.1:%d", operatorPort), "`address` for the operator of rounds: a loopback address, or --operator-ca must be given")
	o.daemon.bind(f, role, clientsPort)
	command.Topic(f, "TLS", func(f *flag.FlagSet) { o.operators.bind(f, "operator") })
}

func (o *operated) validate() error {
	return cmp.Or(o.operators.validate(o.listening, o.operatorListen), o.daemon.validate())
}

// wanted is a listener that is to be opened.
type wanted struct {
	to            *net.Listener
	flag, address string
}

// open opens the two listeners, and others that have an address: all or none.
func (o *operated) open(clients, operator *net.Listener, others ...wanted) (err error) {
	all := append([]wanted{{clients, "--listen", o.listen}, {operator, "--operator-listen", o.operatorListen}},
		slices.DeleteFunc(others, func(w wanted) bool { return w.address == "" })...)
	for i, w := range all {
		if *w.to, err = listenAt(w.flag, w.address); err != nil {
			for _, opened := range all[:i] {
				err = errors.Join(err, (*opened.to).Close())
			}
			return err
		}
	}
	return nil
}

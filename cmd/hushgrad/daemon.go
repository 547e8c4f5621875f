package main

import (
	"errors"
	"fmt"
	"net"

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
}

// bind binds the flags. role is the command, and the port is the default address's.
func (d *daemon) bind(f *flag.FlagSet, role string, port int) {
	f.StringVar(&d.listen, "listen", fmt.Sprintf("127.0.0.1:%d", port), "`address` for clients")
	d.state.bind(f, role)
	d.logging.bind(f)
	command.Topic(f, "TLS", d.listening.bind)
	command.Topic(f, "Watching", d.monitoring.bind)
}

func (d *daemon) validate() error {
	if err := d.listening.validate("-listen", d.listen); err != nil {
		return err
	}
	if err := d.monitoring.validate(d.listening); err != nil {
		return err
	}
	return d.state.validate()
}

// open opens the listener.
func (d *daemon) open() (net.Listener, error) {
	clients, err := net.Listen("tcp", d.listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	return clients, nil
}

// operated are the flags of a daemon that has an operator: a listener for that party, and who
// it is.
type operated struct {
	daemon
	operatorListen string
	operators      callers
}

// bind binds the flags as a daemon's.
func (o *operated) bind(f *flag.FlagSet, role string, clientsPort, operatorPort int) {
	f.StringVar(&o.operatorListen, "operator-listen", fmt.Sprintf("127.0.0.1:%d", operatorPort), "`address` for the operator of rounds: a loopback address, or -operator-ca must be given")
	o.daemon.bind(f, role, clientsPort)
	command.Topic(f, "TLS", func(f *flag.FlagSet) { o.operators.bind(f, "operator") })
}

func (o *operated) validate() error {
	if err := o.operators.validate(o.listening, o.operatorListen); err != nil {
		return err
	}
	return o.daemon.validate()
}

// open opens the listeners.
func (o *operated) open() (clients, operator net.Listener, err error) {
	if clients, err = o.daemon.open(); err != nil {
		return nil, nil, err
	}
	if operator, err = net.Listen("tcp", o.operatorListen); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("-operator-listen: %w", err), clients.Close())
	}
	return clients, operator, nil
}

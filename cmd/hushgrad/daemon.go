package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
)

// daemon are the flags of commands that run until they are interrupted: a listener for
// clients and one for the operator, who they are, what is kept, and what is said of it.
type daemon struct {
	listen, operatorListen string
	listening              listening
	operators              callers
	state                  state
	monitoring             monitoring
	logging                logging
}

// bind binds the flags. role is the command, and the ports are those of the default addresses.
func (d *daemon) bind(f *flag.FlagSet, role string, clientsPort, operatorPort int) {
	f.StringVar(&d.listen, "listen", fmt.Sprintf("127.0.0.1:%d", clientsPort), "`address` for clients")
	f.StringVar(&d.operatorListen, "operator-listen", fmt.Sprintf("127.0.0.1:%d", operatorPort), "`address` for the operator of rounds: a loopback address, or -operator-ca must be given")
	d.listening.bind(f)
	d.operators.bind(f, "operator")
	d.state.bind(f, role)
	d.monitoring.bind(f)
	d.logging.bind(f)
}

func (d *daemon) validate() error {
	if err := d.listening.validate("-listen", d.listen); err != nil {
		return err
	}
	if err := d.operators.validate(d.listening, d.operatorListen); err != nil {
		return err
	}
	if err := d.monitoring.validate(d.listening); err != nil {
		return err
	}
	if err := d.state.validate(); err != nil {
		return err
	}
	return d.logging.validate()
}

// open opens the listeners.
func (d *daemon) open() (clients, operator net.Listener, err error) {
	if clients, err = net.Listen("tcp", d.listen); err != nil {
		return nil, nil, fmt.Errorf("-listen: %w", err)
	}
	if operator, err = net.Listen("tcp", d.operatorListen); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("-operator-listen: %w", err), clients.Close())
	}
	return clients, operator, nil
}

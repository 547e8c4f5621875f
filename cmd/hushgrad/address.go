package main

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// checkAddress returns a *fl.ParamError for the address of a flag that is no host:port, and says how to write it where that
// is clear.
func checkAddress(flag, address string) error {
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		return fl.Invalid(flag, address, "must be host:port: type 127.0.0.1:%s", address)
	}
	if scheme, rest, found := strings.Cut(address, "://"); found {
		if u, err := url.Parse(address); err == nil && u.Port() != "" {
			rest = u.Host
		} else {
			rest = strings.TrimRight(rest, "/") + ":PORT"
		}
		return fl.Invalid(flag, address, "must be host:port without %s://: type %s", scheme, rest)
	}
	_, port, err := net.SplitHostPort(address)
	switch {
	case address == "":
		return fl.Invalid(flag, address, "must be host:port, such as 127.0.0.1:7117")
	case err != nil && strings.Count(address, ":") == 0:
		return fl.Invalid(flag, address, "must be host:port: type %s:PORT", address)
	case err != nil:
		return fl.Invalid(flag, address, "must be host:port, and [host]:port where the host has colons")
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return fl.Invalid(flag, address, "must have a port from 0 to 65535 behind the colon")
	}
	return nil
}

// listenAt opens the listener of a flag.
func listenAt(flag, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, flagError{err, fl.Invalid(flag, address, "must be an address of this machine that is free: %v", err).Error()}
	}
	return l, nil
}

// loopback reports whether an address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

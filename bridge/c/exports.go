package main

/*
#include <stdlib.h>
#define HUSHGRAD_TYPES_ONLY
#include "hushgrad.h"
*/
import "C"

import (
	"unsafe"

	"github.com/hushgrad/hushgrad/bridge/internal/abi"
)

// The header's limits are package abi's limits.
const (
	_ = uint(C.HUSHGRAD_MAX_HEADER - abi.MaxHeader)
	_ = uint(abi.MaxHeader - C.HUSHGRAD_MAX_HEADER)
	_ = uint(C.HUSHGRAD_MAX_PAYLOAD - abi.MaxPayload)
	_ = uint(abi.MaxPayload - C.HUSHGRAD_MAX_PAYLOAD)
	_ = uint(C.HUSHGRAD_PROTOCOL - abi.Protocol)
	_ = uint(abi.Protocol - C.HUSHGRAD_PROTOCOL)
)

// all are the sessions of the process.
var all sessions

//export hushgrad_protocol
func hushgrad_protocol() C.uint32_t { return abi.Protocol }

//export hushgrad_open
func hushgrad_open() C.hushgrad_session { return C.hushgrad_session(all.add()) }

//export hushgrad_close
func hushgrad_close(session C.hushgrad_session) { all.remove(uint64(session)) }

//export hushgrad_free
func hushgrad_free(data unsafe.Pointer) { C.free(data) }

//export hushgrad_call
func hushgrad_call(session C.hushgrad_session, header unsafe.Pointer, headerSize C.size_t, payload unsafe.Pointer, payloadSize C.size_t, answer, out *C.hushgrad_bytes) C.int {
	if headerSize > C.HUSHGRAD_MAX_HEADER || payloadSize > C.HUSHGRAD_MAX_PAYLOAD {
		return C.HUSHGRAD_TOO_LARGE
	}
	if answer == nil || out == nil || header == nil && headerSize > 0 || payload == nil && payloadSize > 0 {
		return C.HUSHGRAD_NULL
	}
	a, o, found := all.call(uint64(session), seen(header, headerSize), seen(payload, payloadSize))
	if !found {
		return C.HUSHGRAD_NO_SESSION
	}
	*answer, *out = given(a), given(o)
	return C.HUSHGRAD_ANSWERED
}

// seen returns memory of the caller as bytes.
func seen(data unsafe.Pointer, size C.size_t) []byte { return unsafe.Slice((*byte)(data), int(size)) }

// given copies bytes for the caller.
func given(b []byte) C.hushgrad_bytes {
	if len(b) == 0 {
		return C.hushgrad_bytes{}
	}
	return C.hushgrad_bytes{data: (*C.uint8_t)(C.CBytes(b)), size: C.size_t(len(b))}
}

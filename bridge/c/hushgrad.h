/*
 * hushgrad for C, and for languages that call C: C++, Rust, Swift. Use it where Go and Python
 * are not at hand. Start with hushgrad_open, and see examples/c/mean.c.
 *
 * A session answers requests. A request is a JSON header and a payload of bytes, and so is its
 * answer. The documentation of the Go package bridge/internal/abi lists the operations:
 *
 *   request   {"op": "encode", "args": {"round": 2, "type": "f4", "rows": 1}}, and the numbers
 *   answer    {"answer": {...}}, and the reports
 *   error     {"error": {"kind": "policy", "message": "...", "param": "epsilon", ...}}
 *
 * Build the library with Go 1.26 or newer and a C compiler:
 *
 *   go build -buildmode=c-shared  -o libhushgrad.so ./bridge/c
 *   go build -buildmode=c-archive -o libhushgrad.a  ./bridge/c
 *
 * DO NOT CALL IT IN A FORKED CHILD. The library holds the Go runtime, whose threads do not
 * survive fork(). A child that uses a library which its parent has loaded hangs, most often at
 * the first garbage collection. A child that calls exec() at once is safe. Programs that fork
 * (Python's multiprocessing, prefork servers) use the helper hushgrad-bridge instead, one
 * process for each.
 *
 * The Go runtime installs signal handlers when the library is loaded. It ends the process when
 * memory runs out.
 */
#ifndef HUSHGRAD_H
#define HUSHGRAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the operations. It grows with every change that an older caller would misread. */
#define HUSHGRAD_PROTOCOL 1

/* Limits of a request, in bytes. */
#define HUSHGRAD_MAX_HEADER ((size_t)1 << 20)
#define HUSHGRAD_MAX_PAYLOAD ((size_t)1 << 30)

/* A session holds the objects that requests have made. 0 is no session. */
typedef uint64_t hushgrad_session;

/* What hushgrad_call returns. */
enum {
	HUSHGRAD_ANSWERED = 0,   /* there is an answer, which may be an error */
	HUSHGRAD_NO_SESSION = 1, /* the session is not open */
	HUSHGRAD_TOO_LARGE = 2,  /* the header or the payload is above its limit */
	HUSHGRAD_NULL = 3        /* answer or out is NULL, or data of more than 0 bytes is */
};

/* Bytes that the library has made. Free data with hushgrad_free. It is NULL if size is 0. */
typedef struct hushgrad_bytes {
	uint8_t *data;
	size_t size;
} hushgrad_bytes;

#ifndef HUSHGRAD_TYPES_ONLY /* the library itself has these */

/* Returns the protocol of the library, which must be HUSHGRAD_PROTOCOL. */
uint32_t hushgrad_protocol(void);

/* Opens a session. It is safe for several threads, one call at a time. */
hushgrad_session hushgrad_open(void);

/*
 * Answers one request. It keeps no argument. answer and out are set exactly if it returns
 * HUSHGRAD_ANSWERED: the JSON header of the answer, without a 0 at its end, and its payload.
 * Free both. A pointer to 0 bytes may be NULL.
 */
int hushgrad_call(hushgrad_session session, const void *header, size_t header_size,
                  const void *payload, size_t payload_size, hushgrad_bytes *answer,
                  hushgrad_bytes *out);

/* Frees bytes of an answer. NULL is allowed. */
void hushgrad_free(void *data);

/* Ends a session and its objects, and closes its ledgers. A session that is not open is none. */
void hushgrad_close(hushgrad_session session);

#endif /* HUSHGRAD_TYPES_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* HUSHGRAD_H */

/*
 * Answers requests from standard input by the library, for its tests. Each request is the size of
 * the header and of the payload in decimal, a line feed, and the two. So is each answer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hushgrad.h"

static void *bytes(size_t size) {
	void *data = malloc(size + 1);
	if (data == NULL || fread(data, 1, size, stdin) != size) {
		exit(1);
	}
	return data;
}

int main(void) {
	hushgrad_session session = hushgrad_open();
	hushgrad_bytes answer, out;
	size_t header_size, payload_size;
	if (hushgrad_protocol() != HUSHGRAD_PROTOCOL) {
		return 1;
	}
	/* What the header promises of bad calls. */
	if (hushgrad_call(session + 1, "{}", 2, NULL, 0, &answer, &out) != HUSHGRAD_NO_SESSION ||
	    hushgrad_call(0, NULL, 0, NULL, 0, &answer, &out) != HUSHGRAD_NO_SESSION ||
	    hushgrad_call(session, "{}", HUSHGRAD_MAX_HEADER + 1, NULL, 0, &answer, &out) != HUSHGRAD_TOO_LARGE ||
	    hushgrad_call(session, "{}", 2, NULL, HUSHGRAD_MAX_PAYLOAD + 1, &answer, &out) != HUSHGRAD_TOO_LARGE ||
	    hushgrad_call(session, NULL, 2, NULL, 0, &answer, &out) != HUSHGRAD_NULL ||
	    hushgrad_call(session, "{}", 2, NULL, 1, &answer, &out) != HUSHGRAD_NULL ||
	    hushgrad_call(session, "{}", 2, NULL, 0, NULL, &out) != HUSHGRAD_NULL ||
	    hushgrad_call(session, "{}", 2, NULL, 0, &answer, NULL) != HUSHGRAD_NULL) {
		return 2;
	}
	hushgrad_free(NULL);
	while (scanf("%zu %zu", &header_size, &payload_size) == 2 && getchar() == '\n') {
		void *header = bytes(header_size), *payload = bytes(payload_size);
		if (hushgrad_call(session, header, header_size, payload, payload_size, &answer, &out) != HUSHGRAD_ANSWERED) {
			return 3;
		}
		printf("%zu %zu\n", answer.size, out.size);
		fwrite(answer.data, 1, answer.size, stdout);
		fwrite(out.data, 1, out.size, stdout);
		fflush(stdout);
		hushgrad_free(answer.data);
		hushgrad_free(out.data);
		free(header);
		free(payload);
	}
	hushgrad_close(session);
	hushgrad_close(session);
	return hushgrad_call(session, "{}", 2, NULL, 0, &answer, &out) == HUSHGRAD_NO_SESSION ? 0 : 4;
}

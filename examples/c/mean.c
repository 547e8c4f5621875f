/*
 * The mean gradient of 20 000 clients, in C. Build and run, in the folder of the module:
 *
 *   go build -buildmode=c-shared -o libhushgrad.so ./bridge/c
 *   cc -Ibridge/c -o mean examples/c/mean.c -L. -lhushgrad -Wl,-rpath,.
 *   ./mean
 *
 * A program of more than a page reads the headers by a JSON library. This one looks for the few
 * numbers that it needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hushgrad.h"

enum { DIM = 4, CLIENTS = 20000 };

/* Calls an operation, or ends the program with the error. The caller frees *out. */
static hushgrad_bytes call(hushgrad_session session, const char *header, const void *payload,
                           size_t payload_size, hushgrad_bytes *out) {
	hushgrad_bytes answer;
	int status = hushgrad_call(session, header, strlen(header), payload, payload_size, &answer, out);
	if (status != HUSHGRAD_ANSWERED) {
		fprintf(stderr, "hushgrad_call: status %d\n", status);
		exit(1);
	}
	if (answer.size < 9 || memcmp(answer.data, "{\"error\":", 9) == 0) {
		fprintf(stderr, "%s\n%.*s\n", header, (int)answer.size, (const char *)answer.data);
		exit(1);
	}
	return answer;
}

/* Returns the whole number behind "name": in an answer, and frees the answer. */
static unsigned long long number(hushgrad_bytes answer, const char *name) {
	char *text = malloc(answer.size + 1), pattern[64];
	if (text == NULL) {
		exit(1);
	}
	memcpy(text, answer.data, answer.size);
	text[answer.size] = 0;
	hushgrad_free(answer.data);
	snprintf(pattern, sizeof pattern, "\"%s\":", name);
	const char *found = strstr(text, pattern);
	unsigned long long value = found ? strtoull(found + strlen(pattern), NULL, 10) : 0;
	free(text);
	return value;
}

int main(void) {
	hushgrad_session session = hushgrad_open();
	hushgrad_bytes description, reports, numbers, none;
	char header[512];

	/* The server describes a round. The description is public. */
	unsigned long long server = number(
	    call(session,
	         "{\"op\": \"round.new\", \"args\": {\"id\": \"week-12\", \"mechanism\": \"auto\", \"dim\": 4,"
	         " \"scale\": 0.5, \"epsilon\": 4, \"min_reports\": 1000, \"params\": {\"sparsity\": 2}}}",
	         NULL, 0, &description),
	    "round");

	/* A client opens the description under a policy of its own, and encodes. */
	unsigned long long client = number(
	    call(session, "{\"op\": \"round.open\", \"args\": {\"policy\": {\"max_epsilon\": 4}}}",
	         description.data, description.size, &none),
	    "round");
	hushgrad_free(description.data);
	static float gradients[CLIENTS][DIM]; /* a simulation: one row for each client */
	for (int i = 0; i < CLIENTS; i++) {
		const float gradient[DIM] = {0.4F, -0.3F, 0.2F, -0.1F};
		memcpy(gradients[i], gradient, sizeof gradient);
	}
	snprintf(header, sizeof header, "{\"op\": \"encode\", \"args\": {\"round\": %llu, \"type\": \"f4\", \"rows\": %d}}",
	         client, CLIENTS);
	hushgrad_bytes answer = call(session, header, gradients, sizeof gradients, &reports);
	hushgrad_free(answer.data);

	/* The server counts reports and estimates. */
	snprintf(header, sizeof header, "{\"op\": \"aggregator\", \"args\": {\"round\": %llu}}", server);
	unsigned long long counts = number(call(session, header, NULL, 0, &none), "aggregator");
	snprintf(header, sizeof header, "{\"op\": \"add\", \"args\": {\"aggregator\": %llu}}", counts);
	unsigned long long counted = number(call(session, header, reports.data, reports.size, &none), "reports");
	hushgrad_free(reports.data);
	snprintf(header, sizeof header, "{\"op\": \"estimate\", \"args\": {\"aggregator\": %llu}}", counts);
	answer = call(session, header, NULL, 0, &numbers);
	hushgrad_free(answer.data);

	double mean[DIM], std_err[DIM]; /* little-endian, as on most machines */
	memcpy(mean, numbers.data, sizeof mean);
	memcpy(std_err, numbers.data + sizeof mean, sizeof std_err);
	hushgrad_free(numbers.data);
	printf("%llu reports\n", counted);
	for (int j = 0; j < DIM; j++) {
		printf("%+.2f, standard error %.3f\n", mean[j], std_err[j]);
	}
	hushgrad_close(session);
	return 0;
}

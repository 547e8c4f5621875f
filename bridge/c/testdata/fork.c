/*
 * Shows what the library does in a forked child: it does not get through the same calls that the
 * parent got through. Prints "the child hangs", "the child fails" or "the child works".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hushgrad.h"

/* Opens many sessions with a round each, so that the memory of the library is collected. */
static void work(void) {
	static const char header[] =
	    "{\"op\": \"round.new\", \"args\": {\"id\": \"r\", \"mechanism\": \"coco\", \"dim\": 100000,"
	    " \"scale\": 0.5, \"epsilon\": 4, \"min_reports\": 3, \"params\": {\"sparsity\": 20000}}}";
	for (int i = 0; i < 100; i++) {
		hushgrad_bytes answer, out;
		hushgrad_session session = hushgrad_open();
		if (hushgrad_call(session, header, strlen(header), NULL, 0, &answer, &out) != HUSHGRAD_ANSWERED) {
			_exit(1);
		}
		hushgrad_free(answer.data);
		hushgrad_free(out.data);
		hushgrad_close(session);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
	double start = now();
	work();
	double patience = 3 + 20 * (now() - start); /* seconds: far more than the parent took */
	pid_t child = fork();
	if (child < 0) {
		return 1;
	}
	if (child == 0) {
		work();
		_exit(0);
	}
	for (start = now(); now() - start < patience; usleep(20000)) {
		int status;
		if (waitpid(child, &status, WNOHANG) == child) {
			puts(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "the child works" : "the child fails");
			return 0;
		}
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	puts("the child hangs");
	return 0;
}

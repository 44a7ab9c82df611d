/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session over a scripted backend, for its tests. */
#ifndef TESTS_SESSION_FIXTURE_H
#define TESTS_SESSION_FIXTURE_H

#include "support.h"

#include "abi/channel.h"
#include "base/clock.h"
#include "engine/session.h"

enum action { SAY, FRAME, MARK, STOP, SIGNAL, FLOOD, STAND };

struct step {
	uint64_t after_ns;
	enum action action;
	int stream; /* BACKEND_* of SAY, CHANNEL_STREAM_* of FRAME, code of MARK, signal of SIGNAL
		     */
	const char *text;
	enum stop_reason reason;
	uint32_t value;
};

#define MS NS_PER_MSEC

struct fake_machine {
	struct backend base;
	struct evloop *loop;
	struct evloop_source *timer;
	const struct backend_events *events;
	void *ctx;
	const struct step *steps;
	size_t count, next;
	bool halted, paused, was_paused, destroyed;
	uint64_t last_line_ns, halt_ns, flooded;
	char typed[64];
	size_t typed_len, room;
	const char *answer; /* to an NMI; NULL: silence */
	unsigned int nmis, registers_at_nmi, registers;
};

extern struct fake_machine fake;
extern struct record_boot record;
extern struct outcome outcome;
extern struct err e;
extern struct session_config cfg;
extern int out_pipe[2];

int session_setup(void **state);
int session_teardown(void **state);
int run_to(int fd, const struct step *steps, size_t count);

#define RUN(steps) assert_int_equal(run_to(out_pipe[1], steps, ARRAY_SIZE(steps)), 0)

#define AGENT      "{\"type\":\"agent\",\"uname\":\"6.12\",\"calltime\":null}\n"
#define EXIT       "{\"type\":\"exit\",\"status\":7,\"signal\":0}\n"

#endif

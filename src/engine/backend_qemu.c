/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See backend_qemu.h. QEMU is a child (qemu_process.c) that dies with us. Its serial line, its
 * channel and its monitor are socket pairs; the guest's memory is a memfd that both map, so that it
 * is read without the guest's help, also when guest and QEMU are dead. Runs on the event loop's
 * thread.
 */
#include "engine/backend_qemu.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/qemu_args_priv.h"
#include "engine/qemu_memory_priv.h"
#include "engine/qemu_process_priv.h"
#include "engine/qemu_registers_priv.h"
#include "engine/qmp.h"

#define QMP_TIMEOUT_MS 2000

#define QEMU_STREAMS   (BACKEND_CHANNEL + 1) /* the channel's are not apart */

/* One of the two byte streams, our end of a socket pair. */
struct stream {
	int fd;
	struct evloop_source *source;
	bool paused, ended;
};

struct backend_qemu {
	struct backend base;
	struct backend_qemu_config cfg;
	struct evloop *loop;
	const struct backend_events *events;
	void *ctx;

	struct qemu_fds theirs; /* closed once QEMU runs, but for the memory */
	struct stream streams[QEMU_STREAMS];
	bool console_blocked; /* a write was cut short: told when there is room */
	int qmp_fd;
	struct qmp qmp;
	struct evloop_source *qmp_source, *stderr_source, *pid_source, *nudge_source;
	struct qemu_process process;
	struct qemu_args args;

	bool ended; /* by itself: reason and value say how */
	bool told;
	bool asking; /* it stands for nobody but us */
	enum stop_reason reason;
	uint32_t value;
	char stop_text[OUTCOME_TEXT_MAX];

	uint64_t load_ns, run_ns; /* monotonic; 0: not yet */
};

static struct backend_qemu *to_qemu(struct backend *b)
{
	return (struct backend_qemu *)b;
}

static void close_fd(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
		*fd = -1;
	}
}

/* isa-debug-exit ends QEMU with status value * 2 + 1, so QEMU's own failure, 1, is value 0. */
static void judge_exit_status(struct backend_qemu *q)
{
	int wait_status = q->process.wait_status;
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;

	if (status > 0 && status % 2 == 1 && q->process.stderr_len == 0) {
		q->reason = STOP_EXIT_PORT;
		q->value = (uint32_t)status / 2;
	} else {
		q->reason = q->run_ns || status < 0 ? STOP_BACKEND_DIED : STOP_NOT_STARTED;
		qemu_process_describe_end(&q->process, q->stop_text, sizeof(q->stop_text));
	}
}

/* The end is told when nothing is left to be read of what the guest wrote before it. */
static void tell_end_when_drained(struct backend_qemu *q)
{
	if (!q->ended || q->told) {
		return;
	}
	for (size_t i = 0; i < QEMU_STREAMS; i++) {
		if (q->streams[i].fd >= 0 && !q->streams[i].ended) {
			return;
		}
	}
	q->told = true;
	q->events->stopped(q->ctx, q->reason, q->value, q->stop_text);
}

static void stream_end(struct stream *s)
{
	s->ended = true;
	evloop_remove(s->source);
	s->source = NULL;
}

static enum backend_stream stream_kind(const struct backend_qemu *q, const struct stream *s)
{
	return (enum backend_stream)(s - q->streams);
}

/* Reads once. After the end there is nobody left to write more, so an empty socket is the end. */
static void stream_read(struct backend_qemu *q, struct stream *s)
{
	char buf[16384];
	ssize_t n = recv(s->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n > 0) {
		q->events->output(q->ctx, stream_kind(q, s), buf, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR) || (errno == EAGAIN && q->ended)) {
		stream_end(s);
	}
}

static void drain_after_end(struct backend_qemu *q)
{
	for (size_t i = 0; i < QEMU_STREAMS; i++) {
		struct stream *s = &q->streams[i];

		while (s->fd >= 0 && !s->ended && !s->paused) {
			stream_read(q, s);
		}
	}
	tell_end_when_drained(q);
}

static void set_stream_events(struct backend_qemu *q, struct stream *s)
{
	uint32_t events = s->paused ? 0 : EPOLLIN;

	if (s == &q->streams[BACKEND_CONSOLE] && q->console_blocked) {
		events |= EPOLLOUT;
	}
	if (s->source && evloop_set_events(s->source, events) < 0) {
		stream_end(s);
	}
}

static struct stream *stream_of_fd(struct backend_qemu *q, int fd)
{
	return fd == q->streams[BACKEND_CONSOLE].fd ? &q->streams[BACKEND_CONSOLE]
						    : &q->streams[BACKEND_CHANNEL];
}

static void on_stream(void *ctx, int fd, uint32_t events)
{
	struct backend_qemu *q = ctx;
	struct stream *s = stream_of_fd(q, fd);

	if ((events & EPOLLOUT) && q->console_blocked) {
		q->console_blocked = false;
		set_stream_events(q, s);
		q->events->console_room(q->ctx);
	}
	if (s->paused && (events & (EPOLLHUP | EPOLLERR))) {
		/* Cannot be masked. What is left is read when the stream goes on. */
		evloop_remove(s->source);
		s->source = NULL;
		return;
	}
	if (!s->paused && !s->ended && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
		stream_read(q, s);
	}
	tell_end_when_drained(q);
}

static void on_qmp_event(void *ctx, const char *name, json_t *data)
{
	struct backend_qemu *q = ctx;
	const char *reason = json_string_value(json_object_get(data, "reason"));

	log_debug("qemu", "event %s %s", name, reason ? reason : "");
	if (strcmp(name, "RESUME") == 0 && !q->run_ns) {
		q->run_ns = clock_now_ns(&clock_monotonic);
	}
	if ((strcmp(name, "STOP") == 0 || strcmp(name, "RESUME") == 0) && !q->ended && !q->asking) {
		q->events->standing(q->ctx, name[0] == 'S');
	}
	if (strcmp(name, "SHUTDOWN") != 0 || q->ended) {
		return;
	}
	q->ended = true;
	if (reason && strcmp(reason, "guest-reset") == 0) {
		q->reason = STOP_RESET;
	} else if (reason && strcmp(reason, "guest-panic") == 0) {
		q->reason = STOP_NONE;
	} else {
		q->reason = STOP_POWER_OFF;
	}
}

static void on_qmp(void *ctx, int fd, uint32_t events)
{
	struct backend_qemu *q = ctx;

	if (qmp_read(&q->qmp) < 0) {
		evloop_remove(q->qmp_source);
		q->qmp_source = NULL;
	}
	if (q->ended) {
		drain_after_end(q);
	}
}

static void on_stderr(void *ctx, int fd, uint32_t events)
{
	struct backend_qemu *q = ctx;

	if (!qemu_process_read_stderr(&q->process)) {
		evloop_remove(q->stderr_source);
		q->stderr_source = NULL;
	}
}

static void on_exit_of_qemu(void *ctx, int fd, uint32_t events)
{
	struct backend_qemu *q = ctx;

	evloop_remove(q->pid_source);
	q->pid_source = NULL;
	qemu_process_reap(&q->process);
	(void)qemu_process_read_stderr(&q->process);
	if (!q->ended) {
		/* An event may still wait behind the others. */
		(void)!qmp_read(&q->qmp);
	}
	if (!q->ended) {
		q->ended = true;
		judge_exit_status(q);
	}
	drain_after_end(q);
}

static int spawn(struct backend_qemu *q, struct err *e)
{
	const int inherited[] = {q->theirs.memory, q->theirs.initrd, q->theirs.console,
				 q->theirs.channel, q->theirs.qmp};
	int r = qemu_process_start(&q->process, q->args.argv, inherited, ARRAY_SIZE(inherited), e);

	if (r == 0) {
		close_fd(&q->theirs.initrd);
		close_fd(&q->theirs.console);
		close_fd(&q->theirs.channel);
		close_fd(&q->theirs.qmp);
	}
	return r;
}

/*
 * QEMU 7.2 changes a vCPU's set of pending interrupts without a lock when it enters and leaves a
 * nested guest (svm_helper.c: do_vmexit), while its I/O thread adds to the same word. Now and then
 * the lab's host thereby loses an interrupt: its timer's, and an idle host then sleeps for good.
 * The interrupt is still in the APIC and is delivered with the next one, so one is made each
 * second: a byte on the console. It is XON, which a terminal takes without echo and without
 * meaning.
 */
static void on_nudge(void *ctx)
{
	struct backend_qemu *q = ctx;
	const char xon = 0x11;

	(void)!send(q->streams[BACKEND_CONSOLE].fd, &xon, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int watch_lab(struct backend_qemu *q)
{
	int r = evloop_add_timer(q->loop, on_nudge, q, &q->nudge_source);

	return r < 0 ? r
		     : evloop_arm_timer(q->nudge_source,
					clock_now_ns(&clock_monotonic) + NS_PER_SEC, NS_PER_SEC);
}

static int watch(struct backend_qemu *q, struct err *e)
{
	bool waits = q->cfg.common.gdb && !q->cfg.common.gdb_nowait;
	int r = 0;

	for (size_t i = 0; r == 0 && i < QEMU_STREAMS; i++) {
		struct stream *s = &q->streams[i];

		if (s->fd >= 0) {
			r = evloop_add_fd(q->loop, s->fd, EPOLLIN, on_stream, q, &s->source);
		}
	}
	if (r == 0) {
		r = evloop_add_fd(q->loop, q->qmp_fd, EPOLLIN, on_qmp, q, &q->qmp_source);
	}
	if (r == 0) {
		r = evloop_add_fd(q->loop, q->process.stderr_fd, EPOLLIN, on_stderr, q,
				  &q->stderr_source);
	}
	if (r == 0) {
		r = evloop_add_fd(q->loop, q->process.pid_fd, EPOLLIN, on_exit_of_qemu, q,
				  &q->pid_source);
	}
	if (r == 0 && q->cfg.lab) {
		r = watch_lab(q);
	}
	if (r == 0) {
		r = qmp_greet(&q->qmp, !waits);
		/* It has ended already: its process, which is watched now, says why. */
		r = r == -EPIPE ? 0 : r;
	}
	if (r == 0 && waits) {
		q->events->standing(q->ctx, true);
	}
	return r < 0 ? err_errno(e, r, "watching QEMU") : 0;
}

static int qemu_start(struct backend *b, struct evloop *loop, const struct backend_events *events,
		      void *ctx, struct err *e)
{
	struct backend_qemu *q = to_qemu(b);
	int r;

	q->loop = loop;
	q->events = events;
	q->ctx = ctx;
	q->load_ns = clock_now_ns(&clock_monotonic);
	r = spawn(q, e);
	return r < 0 ? r : watch(q, e);
}

static size_t qemu_write_console(struct backend *b, const void *data, size_t len)
{
	struct backend_qemu *q = to_qemu(b);
	struct stream *s = &q->streams[BACKEND_CONSOLE];
	ssize_t n = send(s->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN) {
		return len; /* QEMU is gone: there is nobody to type to */
	}
	if (n < (ssize_t)len) {
		q->console_blocked = true;
		set_stream_events(q, s);
	}
	return n < 0 ? 0 : (size_t)n;
}

static void qemu_pause(struct backend *b, enum backend_stream stream, bool on)
{
	struct backend_qemu *q = to_qemu(b);
	struct stream *s = stream < QEMU_STREAMS ? &q->streams[stream] : NULL;

	if (!s || s->fd < 0 || s->ended || s->paused == on) {
		return;
	}
	s->paused = on;
	if (!s->source && !on &&
	    evloop_add_fd(q->loop, s->fd, EPOLLIN, on_stream, q, &s->source) < 0) {
		stream_end(s);
	}
	set_stream_events(q, s);
	if (!on && q->ended && !q->told) {
		drain_after_end(q);
	}
}

static int qemu_freeze(struct backend *b, bool on)
{
	struct backend_qemu *q = to_qemu(b);

	return q->ended ? -ESHUTDOWN : qmp_command(&q->qmp, on ? "stop" : "cont", QMP_TIMEOUT_MS);
}

static void unwatch(struct backend_qemu *q)
{
	struct evloop_source **sources[] = {&q->streams[BACKEND_CONSOLE].source,
					    &q->streams[BACKEND_CHANNEL].source,
					    &q->qmp_source,
					    &q->stderr_source,
					    &q->pid_source,
					    &q->nudge_source};

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		evloop_remove(*sources[i]);
		*sources[i] = NULL;
	}
}

static void qemu_halt(struct backend *b)
{
	struct backend_qemu *q = to_qemu(b);

	q->told = true;
	if (q->process.pid && !q->process.reaped && !q->ended) {
		int r = qmp_command(&q->qmp, "stop", QMP_TIMEOUT_MS);

		log_debug("qemu", "stop: %d", r);
		q->ended = true;
		drain_after_end(q);
	}
	unwatch(q);
}

static size_t qemu_registers(struct backend *b, struct backend_cpu_state *cpus, size_t max)
{
	struct backend_qemu *q = to_qemu(b);
	_cleanup_free_ char *all = NULL;

	if (!q->process.reaped && !q->ended) {
		/* While it runs, its registers are not where they can be read. */
		q->asking = true;
		(void)!qmp_command(&q->qmp, "stop", QMP_TIMEOUT_MS);
	}
	if (q->process.reaped ||
	    qmp_monitor_command(&q->qmp, "info registers -a", QMP_TIMEOUT_MS, &all) < 0) {
		return 0;
	}
	return qemu_registers_parse(all, cpus, max);
}

static int qemu_nmi(struct backend *b)
{
	struct backend_qemu *q = to_qemu(b);
	int r = q->ended ? -ESHUTDOWN : qmp_command(&q->qmp, "inject-nmi", QMP_TIMEOUT_MS);

	return r < 0 ? r : qmp_command(&q->qmp, "cont", QMP_TIMEOUT_MS);
}

static size_t qemu_memory(struct backend *b, struct backend_memory *pieces, size_t max)
{
	const struct backend_qemu *q = to_qemu(b);

	return qemu_memory_pieces(q->theirs.memory, q->cfg.common.memory_bytes, pieces, max);
}

static int qemu_read_gpa(struct backend *b, uint64_t gpa, void *buf, size_t len)
{
	const struct backend_qemu *q = to_qemu(b);

	return qemu_memory_read(q->theirs.memory, q->cfg.common.memory_bytes, gpa, buf, len);
}

static int qemu_collect(struct backend *b, struct record_boot *r, uint64_t exec_ns, struct err *e)
{
	struct backend_qemu *q = to_qemu(b);
	json_t *argv = json_array();

	for (size_t i = 0; i < q->args.count; i++) {
		json_array_append_new(argv, record_text_to_json(q->args.argv[i]));
	}
	r->backend = "qemu";
	r->exec_class = q->cfg.icount_shift >= 0 ? EXEC_ICOUNT : EXEC_TCG;
	r->icount_shift = q->cfg.icount_shift >= 0 ? (unsigned int)q->cfg.icount_shift : 0;
	r->qemu = json_pack("{s:s, s:o}", "version", q->qmp.version, "argv", argv);
	r->phase_ns[RECORD_LOAD] = q->load_ns - exec_ns;
	if (q->run_ns) {
		r->phase_ns[RECORD_FIRST_RUN] = q->run_ns - exec_ns;
	}
	return r->qemu ? 0 : err_set(e, -ENOMEM, "the record: out of memory");
}

static void qemu_suspend(struct backend *b, bool on)
{
	struct backend_qemu *q = to_qemu(b);

	qemu_process_signal(&q->process, on ? SIGSTOP : SIGCONT);
}

static void qemu_destroy(struct backend *b)
{
	struct backend_qemu *q = to_qemu(b);

	unwatch(q);
	for (size_t i = 0; i < QEMU_STREAMS; i++) {
		close_fd(&q->streams[i].fd);
	}
	qemu_process_fini(&q->process);
	close_fd(&q->theirs.memory);
	close_fd(&q->theirs.initrd);
	close_fd(&q->theirs.console);
	close_fd(&q->theirs.channel);
	close_fd(&q->theirs.qmp);
	close_fd(&q->qmp_fd);
	qmp_fini(&q->qmp);
	qemu_args_fini(&q->args);
	free(q);
}

static const struct backend_ops qemu_ops = {
	.start = qemu_start,
	.write_console = qemu_write_console,
	.pause = qemu_pause,
	.halt = qemu_halt,
	.registers = qemu_registers,
	.read_gpa = qemu_read_gpa,
	.memory = qemu_memory,
	.nmi = qemu_nmi,
	.collect = qemu_collect,
	.freeze = qemu_freeze,
	.suspend = qemu_suspend,
	.destroy = qemu_destroy,
};

static int make_pair(int *ret_ours, int *ret_theirs, struct err *e)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		return err_errno(e, -errno, "socketpair");
	}
	*ret_ours = fds[0];
	*ret_theirs = fds[1];
	return 0;
}

static int make_memory(struct backend_qemu *q, struct err *e)
{
	char size[32];

	q->theirs.memory = memfd_create("ringside-guest", MFD_CLOEXEC);
	if (q->theirs.memory < 0 ||
	    ftruncate(q->theirs.memory, (off_t)q->cfg.common.memory_bytes) < 0) {
		snprintf(size, sizeof(size), "%llu",
			 (unsigned long long)q->cfg.common.memory_bytes >> 20);
		return err_errno(e, -errno, "%s MiB of guest memory", size);
	}
	if (!q->cfg.common.initramfs) {
		return 0;
	}
	q->theirs.initrd = memfd_create("ringside-initrd", MFD_CLOEXEC);
	if (q->theirs.initrd < 0) {
		return err_errno(e, -errno, "memfd_create");
	}
	return initramfs_write(q->cfg.common.initramfs, q->theirs.initrd, e);
}

/**
 * backend_qemu_create() - prepare a machine under QEMU; nothing is started
 * @cfg: what is to run; copied, its pointers must live as long as the backend
 * @ret: set on success; end it with backend_destroy()
 * @e: set on failure
 *
 * Return: 0, -ENOMEM, or the errno of a system call that failed.
 * Context: the event loop's thread.
 */
int backend_qemu_create(const struct backend_qemu_config *cfg, struct backend **ret, struct err *e)
{
	struct backend_qemu *q = calloc(1, sizeof(*q));
	int r;

	if (!q) {
		return err_set(e, -ENOMEM, "QEMU: out of memory");
	}
	q->base.ops = &qemu_ops;
	q->cfg = *cfg;
	q->theirs = (struct qemu_fds){-1, -1, -1, -1, -1};
	q->streams[BACKEND_CONSOLE].fd = q->streams[BACKEND_CHANNEL].fd = -1;
	q->qmp_fd = -1;
	qemu_process_init(&q->process);

	r = make_memory(q, e);
	if (r == 0) {
		r = make_pair(&q->streams[BACKEND_CONSOLE].fd, &q->theirs.console, e);
	}
	if (r == 0 && cfg->common.channel) {
		r = make_pair(&q->streams[BACKEND_CHANNEL].fd, &q->theirs.channel, e);
	}
	if (r == 0) {
		r = make_pair(&q->qmp_fd, &q->theirs.qmp, e);
	}
	if (r == 0) {
		qmp_init(&q->qmp, q->qmp_fd, on_qmp_event, q);
		r = qemu_args_build(&q->args, &q->cfg, &q->theirs, e);
	}
	if (r < 0) {
		qemu_destroy(&q->base);
		return r;
	}
	*ret = &q->base;
	return 0;
}

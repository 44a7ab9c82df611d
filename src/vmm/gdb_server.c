/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debugger's connection: one at a time, over a loopback port or a Unix socket, on the event
 * loop. A packet is answered while the machine stands; one that comes before waits. Nothing is read
 * while an answer waits to be sent, so what is kept is bounded. A debugger that goes away without a
 * word has detached.
 */
#include "vmm/gdb_priv.h"

#include <arpa/inet.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define SIGNAL_INT 2

static void close_connection(struct gdb_server *s)
{
	evloop_remove(s->source);
	s->source = NULL;
	if (s->fd >= 0) {
		close(s->fd);
		s->fd = -1;
	}
	s->in_len = s->in_at = s->out_len = s->out_at = 0;
	s->packet_waits = s->tell = s->interrupted = false;
	memset(&s->parser, 0, sizeof(s->parser));
}

static void hold_all(struct gdb_server *s)
{
	for (unsigned int i = 0; i < s->m->vcpu_count; i++) {
		s->m->vcpus[i].debug_held = true;
	}
	machine_apply_holds(s->m);
}

/* Also when the debugger just went away. */
static void detach(struct gdb_server *s)
{
	close_connection(s);
	s->state = GDB_DETACHING;
	hold_all(s);
}

static void flush(struct gdb_server *s)
{
	while (s->out_at < s->out_len) {
		ssize_t n = send(s->fd, s->out + s->out_at, s->out_len - s->out_at,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			return; /* a broken connection is told by the loop */
		}
		s->out_at += (size_t)n;
	}
	s->out_at = s->out_len = 0;
}

static void say(struct gdb_server *s, const char *data, size_t len)
{
	/* Cannot be but for a debugger that breaks the rules: it loses what it does not read. */
	if (len <= sizeof(s->out) - s->out_len) {
		memcpy(s->out + s->out_len, data, len);
		s->out_len += len;
	}
	flush(s);
}

static void say_packet(struct gdb_server *s, const struct gdb_text *text)
{
	s->last_len = gdb_frame(text->data, text->len, s->last);
	say(s, s->last, s->last_len);
}

static void tell_stop(struct gdb_server *s, const struct gdb_stop *stop)
{
	struct gdb_text text = {.len = 0};

	s->tell = false;
	gdb_tell_stop(&s->gdb, stop, &text);
	say_packet(s, &text);
}

static void resume(struct gdb_server *s)
{
	struct gdb_text text = {.len = 0};
	struct gdb_stop stop;

	/* Something that was watched has happened on another vCPU as well. */
	if (gdb_target_hit(s, &stop)) {
		tell_stop(s, &stop);
		return;
	}
	if (gdb_target_resume(s) < 0) {
		gdb_put(&text, "E05");
		say_packet(s, &text);
		return;
	}
	s->state = GDB_RUNNING;
	s->tell = true;
}

static void obey(struct gdb_server *s)
{
	struct gdb_text text;
	enum gdb_verdict verdict =
		gdb_command(&s->gdb, (const char *)s->parser.data, s->parser.len, &text);

	s->packet_waits = false;
	switch (verdict) {
	case GDB_RESUME:
		resume(s);
		break;
	case GDB_DETACH:
		say_packet(s, &text);
		detach(s);
		break;
	case GDB_KILL:
		if (text.len) {
			say_packet(s, &text);
		}
		detach(s);
		if (s->m->events->killed) {
			s->m->events->killed(s->m->events_ctx);
		}
		break;
	case GDB_NO_ACKS:
		say_packet(s, &text);
		s->no_acks = true;
		break;
	default:
		say_packet(s, &text);
		break;
	}
}

static void interrupt(struct gdb_server *s)
{
	if (s->state == GDB_RUNNING) {
		s->state = GDB_STOPPING;
		s->interrupted = true;
		hold_all(s);
	}
}

static void take_byte(struct gdb_server *s, uint8_t byte)
{
	switch (gdb_parser_feed(&s->parser, byte)) {
	case GDB_PACKET:
		if (!s->no_acks) {
			say(s, "+", 1);
		}
		s->packet_waits = true;
		break;
	case GDB_BAD:
		if (!s->no_acks) {
			say(s, "-", 1);
		}
		break;
	case GDB_NAK:
		say(s, s->last, s->last_len);
		break;
	case GDB_INTERRUPT:
		interrupt(s);
		break;
	default:
		break;
	}
}

static void process(struct gdb_server *s)
{
	while (s->fd >= 0 && s->out_len == 0) {
		if (s->packet_waits && s->state == GDB_STOPPED) {
			obey(s);
		} else if (s->packet_waits || s->in_at == s->in_len) {
			break;
		} else {
			take_byte(s, s->in[s->in_at++]);
		}
	}
	if (s->in_at == s->in_len) {
		s->in_at = s->in_len = 0;
	}
	if (s->fd >= 0 &&
	    evloop_set_events(s->source, (s->in_len || s->packet_waits ? 0 : EPOLLIN) |
						 (s->out_len ? EPOLLOUT : 0)) < 0) {
		detach(s);
	}
}

static void on_debugger(void *ctx, int fd, uint32_t events)
{
	struct gdb_server *s = ctx;

	if (events & EPOLLOUT) {
		flush(s);
	}
	if (s->in_len == 0 && !s->packet_waits) {
		ssize_t n = recv(fd, s->in, sizeof(s->in), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			detach(s);
			return;
		}
		s->in_len = n > 0 ? (size_t)n : 0;
		s->in_at = 0;
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		detach(s);
		return;
	}
	process(s);
}

static void on_connection(void *ctx, int listening, uint32_t events)
{
	struct gdb_server *s = ctx;
	const int on = 1;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		return;
	}
	if (s->state != GDB_ALONE || s->m->halted || s->m->stopped_told ||
	    evloop_add_fd(s->m->loop, fd, EPOLLIN, on_debugger, s, &s->source) < 0) {
		close(fd); /* there is one already */
		return;
	}
	/* Packets are small and answers are waited for; of a Unix socket it is no option. */
	(void)!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	s->fd = fd;
	s->no_acks = false;
	s->last_len = 0;
	gdb_init(&s->gdb, &gdb_machine_ops, s);
	s->gdb.exec_file = s->exec_file;
	s->state = GDB_STOPPING;
	hold_all(s);
}

/**
 * gdb_server_look() - a vCPU came out of the guest, or all did
 * @s: a server
 *
 * Context: after machine_notify().
 */
void gdb_server_look(struct gdb_server *s)
{
	struct gdb_stop stop = {.kind = GDB_STOP_SIGNAL, .signal = SIGNAL_INT, .vcpu = s->gdb.vcpu};
	bool hit = false;

	for (unsigned int i = 0; i < s->m->vcpu_count && !hit; i++) {
		hit = atomic_load(&s->m->vcpus[i].debug_hit);
	}
	if (s->state == GDB_RUNNING && hit) {
		s->state = GDB_STOPPING;
		hold_all(s);
	}
	if (!machine_stands(s->m)) {
		return;
	}
	if (s->state == GDB_DETACHING) {
		s->state = GDB_ALONE;
		gdb_target_clear(s);
	} else if (s->state == GDB_STOPPING) {
		s->state = GDB_STOPPED;
		if (s->tell && (gdb_target_hit(s, &stop) || s->interrupted)) {
			tell_stop(s, &stop);
		}
		s->interrupted = false;
		process(s);
	}
}

/**
 * gdb_server_end() - tell the debugger that the machine is no more, and let it go
 * @s: a server
 * @result: how the guest ended it, or NULL when it was ended from outside
 */
void gdb_server_end(struct gdb_server *s, const struct machine_result *result)
{
	struct gdb_text text = {.len = 0};

	if (s->fd >= 0) {
		if (!result || result->end == MACHINE_END_NONE) {
			gdb_put(&text, "X0f"); /* SIGTERM */
		} else if (result->end == MACHINE_END_TRIPLE_FAULT) {
			gdb_put(&text, "X0b"); /* SIGSEGV */
		} else if (result->end == MACHINE_END_KVM_ERROR) {
			gdb_put(&text, "X06"); /* SIGABRT */
		} else {
			gdb_put(&text, "W%02x", result->value & 0xff);
		}
		say_packet(s, &text);
	}
	close_connection(s);
	s->state = GDB_ALONE;
}

/* Making it. */

static int listen_at_port(struct gdb_server *s, uint16_t port, struct err *e)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	const int on = 1;

	s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0 ||
	    setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(s->listen_fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(s->listen_fd, 1) < 0 ||
	    getsockname(s->listen_fd, (struct sockaddr *)&a, &len) < 0) {
		return err_errno(e, -errno, "--gdb %u", port);
	}
	snprintf(s->where, sizeof(s->where), "127.0.0.1:%u", ntohs(a.sin_port));
	return 0;
}

/* A socket that nobody listens at is of one who was killed. */
static void remove_dead_socket(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 &&
	    errno == ECONNREFUSED) {
		struct stat st;

		if (lstat(a->sun_path, &st) == 0 && S_ISSOCK(st.st_mode)) {
			(void)!unlink(a->sun_path);
		}
	}
	if (fd >= 0) {
		close(fd);
	}
}

static int listen_at_path(struct gdb_server *s, const char *path, struct err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(a.sun_path)) {
		return err_set(e, -ENAMETOOLONG, "--gdb %s: at most %zu bytes", path,
			       sizeof(a.sun_path) - 1);
	}
	strcpy(a.sun_path, path);
	remove_dead_socket(&a);
	s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		return err_errno(e, -errno, "--gdb %s", path);
	}
	strcpy(s->path, path);
	/* Nobody gets in before listen(2), and then only this user. */
	if (chmod(path, 0600) < 0 || listen(s->listen_fd, 1) < 0) {
		return err_errno(e, -errno, "--gdb %s", path);
	}
	snprintf(s->where, sizeof(s->where), "%s", path);
	return 0;
}

/* A bzImage has no symbols. Without a path that fits into an answer GDB is told nothing. */
static char *find_exec_file(const struct machine_config *cfg)
{
	const char *path = cfg->symbols_path ? cfg->symbols_path : cfg->kernel_path;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[SELFMAG] = "";

	if (fd < 0 || read(fd, magic, sizeof(magic)) != (ssize_t)sizeof(magic) ||
	    memcmp(magic, ELFMAG, SELFMAG) != 0) {
		return NULL;
	}
	return realpath(path, NULL);
}

/**
 * gdb_server_create() - listen for a debugger
 * @m: a machine with its vCPUs
 * @cfg: where: a port of the loopback address, 0 for one that is free, or a path with a '/';
 * whether the guest waits for the debugger; and the kernel, which GDB is told of
 * @ret: set on success; end it with gdb_server_destroy()
 * @e: set on failure
 *
 * Return: 0 or a negative errno.
 */
int gdb_server_create(struct machine *m, const struct machine_config *cfg, struct gdb_server **ret,
		      struct err *e)
{
	const char *where = cfg->gdb;
	struct gdb_server *s = calloc(1, sizeof(*s));
	uint64_t port;
	int r;

	if (!s) {
		return err_set(e, -ENOMEM, "no memory for --gdb");
	}
	s->m = m;
	s->listen_fd = s->fd = -1;
	s->wait = !cfg->gdb_nowait;
	s->exec_file = find_exec_file(cfg);
	s->step_flags = KVM_GUESTDBG_SINGLESTEP;
	if (kvm_dev_cap(&m->dev, KVM_CAP_SET_GUEST_DEBUG2) & KVM_GUESTDBG_BLOCKIRQ) {
		/* Else a step leads into the interrupt that waited while the guest stood. */
		s->step_flags |= KVM_GUESTDBG_BLOCKIRQ;
	}
	if (strchr(where, '/')) {
		r = listen_at_path(s, where, e);
	} else if (text_parse_u64(where, &port) == 0 && port <= UINT16_MAX) {
		r = listen_at_port(s, (uint16_t)port, e);
	} else {
		r = err_set(e, -EINVAL,
			    "--gdb: expected a port, 0 to 65535, or a path with a '/', got '%s'",
			    where);
	}
	if (r < 0) {
		gdb_server_destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

/**
 * gdb_server_destroy() - listen no more
 * @s: from gdb_server_create(), or NULL
 */
void gdb_server_destroy(struct gdb_server *s)
{
	if (!s) {
		return;
	}
	gdb_server_unwatch(s);
	if (s->listen_fd >= 0) {
		close(s->listen_fd);
	}
	if (s->path[0]) {
		(void)!unlink(s->path);
	}
	free(s->exec_file);
	free(s);
}

/**
 * gdb_server_watch() - take connections from now on
 * @s: a server whose machine has its loop and is about to start
 *
 * Return: 0 or a negative errno.
 */
int gdb_server_watch(struct gdb_server *s)
{
	if (s->wait) {
		hold_all(s);
	}
	return evloop_add_fd(s->m->loop, s->listen_fd, EPOLLIN, on_connection, s,
			     &s->listen_source);
}

/**
 * gdb_server_unwatch() - the machine is no more
 * @s: a server
 */
void gdb_server_unwatch(struct gdb_server *s)
{
	close_connection(s);
	evloop_remove(s->listen_source);
	s->listen_source = NULL;
}

/**
 * machine_gdb_address() - where a debugger finds the machine
 * @m: a machine
 *
 * Return: "127.0.0.1:PORT" or a path; NULL when it was not asked for.
 * Context: the owner.
 */
const char *machine_gdb_address(const struct machine *m)
{
	return m->gdb ? m->gdb->where : NULL;
}

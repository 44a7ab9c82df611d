/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PID 1. See agent.h for the order of things. */
#include "guest/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "abi/marks.h"
#include "base/io.h"

#define STATUS_AGENT_FAILED 255

static char *own_name; /* argv[0] */

/*
 * Kernels of distributions have no /dev/port, but let root use ports itself. One without either:
 * the host notices that no mark came.
 */
static void port_write(int port_fd, unsigned int port, uint8_t value)
{
	if (pwrite(port_fd, &value, 1, port) != 1 && ioperm(port, 1, 1) == 0) {
		outb(value, (unsigned short)port);
	}
}

static int read_job(struct job *ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = io_read_file("/" JOB_PATH, JOB_BYTES_MAX, &text, &len, e);

	return r < 0 ? r : job_read(text, len, ret, e);
}

static int run_job(struct link *l, const struct job *job, struct task_end *ret, struct err *e)
{
	struct task t = {
		.argv = job->command, .env = job->env, .cwd = job->cwd, .beat_ms = job->beat_ms};
	uint64_t tainted = job->kernel_log ? kernel_log_tainted() : 0;
	int r = 0;

	*ret = (struct task_end){0};
	if (!job->lab.cwd) {
		r = root_enter(job, &t.root, e);
		if (r == 0) {
			r = files_enter(t.root ? t.root : "", e);
		}
	}
	if (r == 0 && job->root.init) {
		r = init_start(own_name, t.root, &t.root, e);
	}
	if (r == 0 && job->bench.names) {
		r = bench_run(l, job, ret, e);
	}
	if (r < 0 || !job->command) {
		return r;
	}
	if (job->lab.cwd) {
		r = lab_enter(job, &t.root, e);
		t.cwd = job->lab.cwd;
	}
	if (r == 0) {
		r = task_run(l, &t, ret, e);
		if (r == 0) {
			r = artifacts_send(l, job, t.root);
			r = r < 0 ? err_errno(e, r, "agent: bringing files back") : 0;
		}
		root_leave(job);
	}
	if (r == 0 && job->kernel_log) {
		r = kernel_log_send(l, tainted);
		r = r < 0 ? err_errno(e, r, "agent: sending to the host") : 0;
	}
	return r;
}

static int work(struct link *l, struct task_end *ret, struct err *e)
{
	struct job job = {0};
	int r = read_job(&job, e);

	if (r == 0) {
		r = facts_send(l, e);
	}
	if (r == 0) {
		r = net_set_up(&job, e);
	}
	if (r == 0) {
		r = run_job(l, &job, ret, e);
	}
	job_fini(&job);
	return r;
}

static void end(struct link *l, int port_fd, const struct task_end *how, const struct err *e)
{
	json_t *o = e->code == 0 ? json_pack("{s:s, s:i, s:i}", "type", "exit", "status",
					     how->status, "signal", how->signal)
				 : json_pack("{s:s, s:n, s:i, s:s}", "type", "exit", "status",
					     "signal", 0, "error", e->text);

	sync();
	if (link_send_line(l, o) == 0 && link_drain(l) == 0) {
		port_write(port_fd, EXIT_PORT,
			   e->code == 0 ? (uint8_t)how->status : STATUS_AGENT_FAILED);
	}
}

int main(int argc, char **argv)
{
	static struct link l = {.fd = -1};
	struct task_end how = {0};
	struct err e = ERR_INIT;
	int port_fd;

	if (getpid() != 1) {
		fprintf(stderr, "ringside-agent: only runs as the first process of a guest\n");
		return 2;
	}
	own_name = argv[0];
	port_fd = open("/dev/port", O_WRONLY | O_CLOEXEC);
	port_write(port_fd, MARK_PORT, MARK_USER_START);
	json_object_seed(1); /* else jansson reads /dev/urandom, and no two boots are alike */

	if (setup_mounts(SETUP_OWN_ROOT, &e) == 0) {
		setup_loopback();
		modules_load_virtio();
		if (port_fd < 0) {
			port_fd = open("/dev/port", O_WRONLY | O_CLOEXEC);
		}
		if (link_open(&l, &e) == 0 && work(&l, &how, &e) < 0) {
			link_log(&l, "%s", e.text);
		}
	}
	if (l.fd < 0) {
		/* The host learns it from the console, and that no status came. */
		link_log(&l, "%s", e.text);
	} else {
		end(&l, port_fd, &how, &e);
	}
	reboot(RB_AUTOBOOT);
	for (;;) {
		pause();
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvmwalk: the guest's kernel as a KVM host with shadow paging. ringside, in the guest, runs a
 * payload (firmware/payloads/pagewalk.c) that touches pages one after the other and takes each out
 * of the TLB again, so that KVM walks the payload's page tables for every touch. What is looked for
 * is the counter kvm.pte_read; the batches say what a touch costs in all. A batch is one run of
 * ringside, and its empty loop is a run that touches nothing. See bench.h.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/pagewalk.h"
#include "base/io.h"
#include "guest/initramfs.h"

/* Of the inner machine: the payload is small. */
#define INNER_MEMORY "16M"

/* Pages that the touches of one calltime pass read entries for. */
#define PASS_TOUCHES 32768

struct kvmwalk {
	int said_fd;          /* what the payload of the last run of ringside said ... */
	int told_fd;          /* ... and what ringside itself had to tell */
	unsigned int touches; /* that the last run was to make */
	int status;           /* of the first run that failed, as of waitpid(2); 0: none did */
};

/* Whether KVM walks page tables itself is a parameter of its module, which is built in. */
static bool reads_no(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c = 0;

	return fd >= 0 && read(fd, &c, 1) == 1 && (c == 'N' || c == '0');
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* In the new process. */
static _Noreturn void become_ringside(const struct kvmwalk *k, unsigned int touches)
{
	char parameter[48];

	snprintf(parameter, sizeof(parameter), PAGEWALK_PARAMETER "%u", touches);
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDONLY) == STDIN_FILENO && dup2(k->said_fd, STDOUT_FILENO) >= 0 &&
	    dup2(k->told_fd, STDERR_FILENO) >= 0) {
		execl(GUEST_RINGSIDE_PATH, "ringside", "run", "--backend", "kvm", "--memory",
		      INNER_MEMORY, "--kernel", GUEST_PAGEWALK_PATH, "--append", parameter, NULL);
		dprintf(STDERR_FILENO, "%s: %s\n", GUEST_RINGSIDE_PATH, strerror(errno));
	}
	_exit(127);
}

static void run_ringside(struct kvmwalk *k, unsigned int touches)
{
	int status = 0;
	pid_t pid;

	if (k->status) {
		return;
	}
	k->touches = touches;
	if (ftruncate(k->said_fd, 0) < 0 || lseek(k->said_fd, 0, SEEK_SET) < 0 ||
	    ftruncate(k->told_fd, 0) < 0 || lseek(k->told_fd, 0, SEEK_SET) < 0) {
		/* Then what it says stands behind what was said before, and is found wrong. */
	}
	pid = fork();
	if (pid == 0) {
		become_ringside(k, touches);
	}
	if (pid < 0) {
		k->status = 127 << 8;
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	k->status = status;
}

static void walk_loop(void *state, unsigned int turns)
{
	run_ringside(state, turns * PAGEWALK_OF_TURN);
}

static void walk_empty(void *state, unsigned int turns)
{
	run_ringside(state, 0);
}

static void first_line(int fd, char *buf, size_t len)
{
	ssize_t n = pread(fd, buf, len - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\r\n")] = '\0';
}

/* All runs ended well, and the last one did what it was to do. */
static int check(const struct kvmwalk *k, struct err *e)
{
	char said[256], told[256], due[64];

	first_line(k->said_fd, said, sizeof(said));
	first_line(k->told_fd, told, sizeof(told));
	if (WIFSIGNALED(k->status)) {
		return err_set(e, -ENOTRECOVERABLE, "ringside in the guest: signal %d: %s",
			       WTERMSIG(k->status), told);
	}
	if (WEXITSTATUS(k->status) == PAGEWALK_WRONG) {
		return err_set(e, -ENOTRECOVERABLE, "the payload found a page with wrong content");
	}
	if (k->status) {
		return err_set(e, -ENOTRECOVERABLE, "ringside in the guest: status %d: %s",
			       WEXITSTATUS(k->status), *told ? told : said);
	}
	snprintf(due, sizeof(due), PAGEWALK_SAYS, (unsigned long)k->touches);
	return strcmp(said, due) == 0 ? 0
				      : err_set(e, -ENOTRECOVERABLE,
						"the payload said '%s', expected '%s'", said, due);
}

static int walk_setup(struct run *r, struct err *e)
{
	/* One benchmark a process, so this is as good as its own memory. */
	static struct kvmwalk walk;
	const struct sched_param param = {0};
	struct kvmwalk *k = &walk;

	if (!exists("/dev/kvm")) {
		return err_set(e, -ENODEV,
			       "the guest has no KVM: its processor offers no virtualisation");
	}
	if (!reads_no("/sys/module/kvm_amd/parameters/npt") &&
	    !reads_no("/sys/module/kvm_intel/parameters/ept")) {
		return err_set(e, -ENOTRECOVERABLE,
			       "KVM lets the processor walk page tables: the arm needs "
			       "append=kvm_amd.npt=0 or append=kvm_intel.ept=0");
	}
	k->said_fd = memfd_create("said", MFD_CLOEXEC);
	k->told_fd = memfd_create("told", MFD_CLOEXEC);
	if (k->said_fd < 0 || k->told_fd < 0) {
		return err_errno(e, -errno, "memfd_create");
	}
	/* We do nothing but wait, and ringside's threads are to share the processor as they do. */
	if (sched_setscheduler(0, SCHED_OTHER, &param) < 0) {
		return err_errno(e, -errno, "sched_setscheduler");
	}
	r->machine->fifo = false;
	r->state = k;
	walk_loop(k, 1);
	return check(k, e);
}

static int walk_finish(struct run *r, struct err *e)
{
	return check(r->state, e);
}

const struct bench bench_kvmwalk[] = {{
	.name = "kvmwalk",
	.unit = "touch",
	.calls = 4096,
	.calls_of_loop = PAGEWALK_OF_TURN,
	.probe = "kvm.pte_read",
	.pass_calls = PASS_TOUCHES,
	.long_batches = true,
	.waits = true,
	.setup = walk_setup,
	.loop = walk_loop,
	.empty = walk_empty,
	.finish = walk_finish,
}};
const size_t bench_kvmwalk_count = ARRAY_SIZE(bench_kvmwalk);

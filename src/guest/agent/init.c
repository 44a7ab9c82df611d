/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root's own init as the first process, with the agent beside it. The agent forks: the parent,
 * which is the first process, goes into the root for good and becomes its init; the child goes on
 * as the agent, outside, and only its command enters the root. See agent.h.
 *
 * The child's name starts with '@', by which systemd knows that it is not to be killed at its
 * shutdown (https://systemd.io/ROOT_STORAGE_DAEMONS): the host is still to be told how it ended.
 */
#include "guest/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 50000000

/* Where Linux itself looks, and systemd's own place. */
static const char *const inits[] = {"/sbin/init", "/etc/init", "/bin/init", "/lib/systemd/systemd"};

static void __attribute__((noreturn)) become_init(const char *root)
{
	static char *const env[] = {"HOME=/", "TERM=linux", NULL};

	/* As switch_root does it: to be in a chroot would deny its processes some namespaces. */
	if (chdir(root) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0) {
		dprintf(STDERR_FILENO, "ringside-agent: entering the root: %s\n", strerror(errno));
		_exit(1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(inits); i++) {
		char *const argv[] = {(char *)inits[i], NULL};

		execve(inits[i], argv, env);
	}
	/* The kernel panics when its first process ends, and the host is told of that. */
	dprintf(STDERR_FILENO, "ringside-agent: no init found in the root\n");
	_exit(1);
}

static bool is_systemd(const char *root)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s", root, inits[0]);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	base = strrchr(target, '/');
	return strcmp(base ? base + 1 : target, "systemd") == 0;
}

/* Whatever it then says: the command can ask again. */
static void wait_for_systemd(const char *root)
{
	const struct timespec a_little = {.tv_nsec = LOOK_NS};
	char path[PATH_MAX];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/run/systemd/private", root);
	while (access(path, F_OK) < 0) {
		nanosleep(&a_little, NULL);
	}
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (chroot(root) == 0 && chdir("/") == 0) {
			execlp("systemctl", "systemctl", "is-system-running", "--wait",
			       (char *)NULL);
		}
		_exit(AGENT_STATUS_MISSING);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
}

/**
 * init_start() - let the root's init be the first process, and wait until it is up
 * @name: the agent's own argv[0]: it is changed
 * @root: where the root is mounted
 * @ret_root: set on success: where it is for the agent from now on
 * @e: set on failure
 *
 * systemd is waited for until its start-up is done, any other init not at all.
 *
 * Return: 0 in the agent's new process; -errno of open(2) or fork(2), then nothing has changed.
 * Does not return in the old one.
 * Context: the agent, as the first process.
 */
int init_start(char *name, const char *root, const char **ret_root, struct err *e)
{
	static char held[32];
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), agent;
	bool systemd;

	if (fd < 0) {
		return err_errno(e, -errno, "root: %s", root);
	}
	systemd = is_systemd(root);
	agent = fork();
	if (agent < 0) {
		close(fd);
		return err_errno(e, -errno, "root: a process beside init");
	}
	if (agent > 0) {
		become_init(root);
	}
	name[0] = '@';
	/* The root is about to be moved to where this process does not see it by any name. */
	snprintf(held, sizeof(held), "/proc/self/fd/%d", fd);
	if (systemd) {
		wait_for_systemd(held);
	}
	*ret_root = held;
	return 0;
}

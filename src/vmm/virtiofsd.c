/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See virtiofsd.h. Runs on the owner's thread; child() and below in the child, until it execs. */
#include "vmm/virtiofsd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"

/* Where the child has what it serves: any directory that is there will do. */
#define SERVED "/tmp"

/* Of the child's descriptors, beside the first three. */
#define SOCKET_FD        3

#define STOP_WAIT_NS     2000000 /* between looks whether it has ended */
#define STOP_LOOKS       500

#define PROGRAM_VARIABLE "RINGSIDE_VIRTIOFSD"

/* A distribution has one of them, and from its path it is not known which. */
static const char *find_program(void)
{
	static const char *const paths[] = {"/usr/libexec/virtiofsd", "/usr/lib/virtiofsd",
					    "/usr/lib/qemu/virtiofsd"};
	const char *asked = getenv(PROGRAM_VARIABLE);

	if (asked && *asked) {
		return asked;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (access(paths[i], X_OK) == 0) {
			return paths[i];
		}
	}
	return NULL;
}

/* QEMU's says "virtiofsd version 7.2.22 ...", the other "virtiofsd 1.13.3". */
static int ask_whose(const char *path, bool *ret_of_qemu)
{
	static const char qemus[] = "virtiofsd version ";
	char *const argv[] = {"virtiofsd", "--version", NULL};
	char text[sizeof(qemus)];
	posix_spawn_file_actions_t files;
	int pipe_fds[2], r;
	size_t len = 0;
	ssize_t n = 1;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		return -errno;
	}
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, pipe_fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = -posix_spawn(&pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(pipe_fds[1]);
	while (r == 0 && len < sizeof(text) - 1 &&
	       ((n = read(pipe_fds[0], text + len, sizeof(text) - 1 - len)) > 0 ||
		(n < 0 && errno == EINTR))) {
		len += n > 0 ? (size_t)n : 0;
	}
	close(pipe_fds[0]);
	if (r == 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	text[len] = '\0';
	*ret_of_qemu = strcmp(text, qemus) == 0;
	return r;
}

/*
 * A listening socket, which is what virtiofsd takes, with our own connection already waiting in it.
 * Its name was in a directory of ours alone, and is gone.
 */
static int make_sockets(int *ret_listening, int *ret_connected)
{
	char dir[] = "/tmp/ringside-XXXXXX", path[64];
	_cleanup_close_ int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int r;

	if (listening < 0 || connected < 0 || !mkdtemp(dir)) {
		return -errno;
	}
	snprintf(path, sizeof(path), "%s/s", dir);
	memcpy(name.sun_path, path, strlen(path));
	r = bind(listening, (struct sockaddr *)&name, sizeof(name)) < 0 ||
			    listen(listening, 1) < 0 ||
			    connect(connected, (struct sockaddr *)&name, sizeof(name)) < 0
		    ? -errno
		    : 0;
	unlink(path);
	rmdir(dir);
	if (r < 0) {
		return r;
	}
	*ret_listening = TAKE_FD(listening);
	*ret_connected = TAKE_FD(connected);
	return 0;
}

static void __attribute__((noreturn)) refuse(const char *what)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		refuse(path);
	}
	close(fd);
}

static void enter_namespaces(void)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0) {
		refuse(uid ? "no user namespace of its own" : "no mount namespace of its own");
	}
	if (uid) {
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", uid);
		write_file("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "0 %u 1", gid);
		write_file("/proc/self/gid_map", map);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		refuse("its mounts apart from ours");
	}
}

/* A copy of the directory with all that is mounted in it, at SERVED: read-only all through if so
 * asked, whatever its mounts were. */
static void mount_served(const char *path, bool read_only)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (tree < 0) {
		refuse("its copy of the directory's mounts");
	}
	if (read_only &&
	    mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0) {
		refuse("read-only mounts (Linux 5.12 has them)");
	}
	if (move_mount(tree, "", AT_FDCWD, SERVED, MOVE_MOUNT_F_EMPTY_PATH) < 0) {
		refuse("mount on " SERVED);
	}
	close(tree);
}

/* virtiofsd makes more namespaces where the kernel has them. */
static bool has_namespaces(void)
{
	return access("/proc/self/ns/pid", F_OK) == 0 && access("/proc/self/ns/net", F_OK) == 0;
}

static void __attribute__((noreturn)) exec_program(const char *path, bool of_qemu)
{
	const bool namespaces = has_namespaces();

	/* Not --announce-submounts: a mount point that the guest is to mount as such is nothing
	 * that an overlay may have below it, and a root has such. */
	if (!of_qemu) {
		execl(path, "virtiofsd", "--fd=3", "--shared-dir=" SERVED, "--cache=auto",
		      "--log-level=error", "--xattr",
		      namespaces ? "--sandbox=namespace" : "--sandbox=chroot", (char *)NULL);
	} else {
		execl(path, "virtiofsd", "--fd=3", "-f", "-o", "source=" SERVED, "-o", "cache=auto",
		      "-o", "log_level=err", "-o", "xattr", "-o",
		      namespaces ? "sandbox=namespace" : "sandbox=chroot", (char *)NULL);
	}
	refuse(path);
}

static void __attribute__((noreturn)) child(const char *program, bool of_qemu, const char *path,
					    bool read_only, pid_t parent, int socket, int errors)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	/* A session of its own: what a terminal sends to us is ours to act on. */
	setsid();
	for (int s = 1; s < NSIG; s++) {
		signal(s, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	process_die_with(parent);
	if (dup2(errors, STDERR_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0) {
		_exit(1);
	}
	if (socket == SOCKET_FD ? fcntl(socket, F_SETFD, 0) < 0 : dup2(socket, SOCKET_FD) < 0) {
		refuse("its socket");
	}
	enter_namespaces();
	mount_served(path, read_only);
	exec_program(program, of_qemu);
}

/**
 * virtiofsd_start() - start one, and connect to it
 * @d: set, also on failure; end it with virtiofsd_stop()
 * @path: the directory, absolute
 * @read_only: the guest cannot change anything in it
 * @ret_fd: set on success: the socket, for vhost_user_init(); the caller's
 * @e: set on failure
 *
 * What keeps virtiofsd from serving is known when it does not answer: virtiofsd_words() has why.
 *
 * Return: 0, -ENOENT when there is no virtiofsd on this machine, or the −errno of what failed.
 * Context: the owner, while it has no other thread.
 */
int virtiofsd_start(struct virtiofsd *d, const char *path, bool read_only, int *ret_fd,
		    struct err *e)
{
	_cleanup_close_ int listening = -1, connected = -1, errors = -1;
	const char *program = find_program();
	const pid_t parent = getpid();
	bool of_qemu = false;
	int pipe_fds[2], r;

	*d = (struct virtiofsd)VIRTIOFSD_INIT;
	if (!program) {
		return err_set(e, -ENOENT,
			       "no virtiofsd: install the package virtiofsd, or on Debian 12 "
			       "qemu-system-common");
	}
	r = ask_whose(program, &of_qemu);
	if (r < 0) {
		return err_errno(e, r, "cannot start %s", program);
	}
	r = make_sockets(&listening, &connected);
	if (r < 0) {
		return err_errno(e, r, "cannot make a socket for virtiofsd");
	}
	/* Not blocking at either end: what it says past the pipe's size is lost, and it goes on. */
	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		return err_errno(e, -errno, "cannot make a pipe for virtiofsd");
	}
	d->errors_fd = pipe_fds[0];
	errors = pipe_fds[1];
	d->pid = fork();
	if (d->pid == 0) {
		child(program, of_qemu, path, read_only, parent, listening, errors);
	}
	if (d->pid < 0) {
		r = -errno;
		d->pid = 0;
		return err_errno(e, r, "cannot start virtiofsd");
	}
	log_debug("share", "%s, %s: process %d, which is %s of %s", path,
		  read_only ? "only to read" : "to write", (int)d->pid, program,
		  of_qemu ? "QEMU" : "virtiofsd's own project");
	d->pid_fd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	if (d->pid_fd < 0) {
		return err_errno(e, -errno, "cannot start virtiofsd");
	}
	*ret_fd = TAKE_FD(connected);
	return 0;
}

/**
 * virtiofsd_words() - the last that it said, for a message
 * @d: one that was started
 * @ret: gets one line without its end, printable, or nothing
 * @size: room, bytes
 *
 * Context: the owner.
 */
void virtiofsd_words(struct virtiofsd *d, char *ret, size_t size)
{
	char text[4096];
	size_t used = 0;
	ssize_t n;
	char *line;

	/* Of more than there is room for the end stays. */
	while ((n = read(d->errors_fd, text + used, sizeof(text) - 1 - used)) > 0) {
		used += (size_t)n;
		if (used == sizeof(text) - 1) {
			used /= 2;
			memmove(text, text + used, sizeof(text) - 1 - used);
			used = sizeof(text) - 1 - used;
		}
	}
	while (used > 0 && text[used - 1] == '\n') {
		used--;
	}
	text[used] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	for (char *c = line; *c; c++) {
		*c = (unsigned char)*c < ' ' ? '?' : *c;
	}
	snprintf(ret, size, "%s", line);
}

/**
 * virtiofsd_stop() - have it end, and wait for that
 * @d: one that was started or failed to, whose connection is closed
 *
 * Context: the owner.
 */
void virtiofsd_stop(struct virtiofsd *d)
{
	const struct timespec a_little = {.tv_nsec = STOP_WAIT_NS};
	pid_t r = 0;

	if (d->pid > 0) {
		/* It ends by itself, in order, now that nobody is connected. */
		for (int i = 0; i < STOP_LOOKS; i++) {
			r = waitpid(d->pid, NULL, WNOHANG);
			if (r != 0) {
				break;
			}
			nanosleep(&a_little, NULL);
		}
		if (r == 0) {
			/* Not kill(2): our filters do not let us reach other processes. */
			syscall(SYS_pidfd_send_signal, d->pid_fd, SIGKILL, NULL, 0);
			waitpid(d->pid, NULL, 0);
		}
		d->pid = 0;
	}
	if (d->pid_fd >= 0) {
		close(d->pid_fd);
		d->pid_fd = -1;
	}
	if (d->errors_fd >= 0) {
		close(d->errors_fd);
		d->errors_fd = -1;
	}
}

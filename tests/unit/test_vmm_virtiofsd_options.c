/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a virtiofsd is started with, by what it says it is: a script in its place tells. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vmm/virtiofsd.h"

#define SANDBOX_NAMESPACE "namespace"
#define SANDBOX_CHROOT    "chroot"

/* Not below /tmp, which is what virtiofsd gets to serve. */
static char home[64], program[96], served[64];

static int setup(void **state)
{
	strcpy(home, "/var/tmp/ringside-test-XXXXXX");
	strcpy(served, "/tmp/ringside-test-XXXXXX");
	assert_non_null(mkdtemp(home));
	assert_non_null(mkdtemp(served));
	snprintf(program, sizeof(program), "%s/virtiofsd", home);
	assert_int_equal(setenv("RINGSIDE_VIRTIOFSD", program, 1), 0);
	return 0;
}

static int teardown(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s %s", home, served);
	assert_int_equal(system(command), 0);
	return unsetenv("RINGSIDE_VIRTIOFSD");
}

static void make_program(const char *version)
{
	int fd = open(program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_true(dprintf(fd,
			    "#!/bin/sh\n"
			    "if [ \"$1\" = --version ]; then echo '%s'; exit; fi\n"
			    "[ -S /proc/self/fd/3 ] && printf '%%s ' \"$0\" \"$@\" >/tmp/args\n",
			    version) > 0);
	close(fd);
}

/* Its words with a space behind each; those of the sandbox are the kernel's affair. */
static void assert_started_with(const char *version, const char *format)
{
	bool namespaces =
		access("/proc/self/ns/pid", F_OK) == 0 && access("/proc/self/ns/net", F_OK) == 0;
	char path[96], found[512] = "", want[512], said[VIRTIOFSD_WORDS_MAX];
	struct virtiofsd d;
	struct err e = ERR_INIT;
	int fd;
	ssize_t n;

	make_program(version);
	assert_int_equal(virtiofsd_start(&d, served, false, &fd, &e), 0);
	close(fd);
	virtiofsd_stop(&d);
	snprintf(path, sizeof(path), "%s/args", served);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, found, sizeof(found) - 1);
	assert_true(n > 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
	snprintf(said, sizeof(said), "%s ", program);
	snprintf(want, sizeof(want), format, said, namespaces ? SANDBOX_NAMESPACE : SANDBOX_CHROOT);
	assert_string_equal(found, want);
}

static void qemus_is_told_in_its_way(void **state)
{
	const char *want = "%s--fd=3 -f -o source=/tmp -o cache=auto -o log_level=err -o xattr "
			   "-o sandbox=%s ";

	assert_started_with("virtiofsd version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", want);
	assert_started_with("virtiofsd version 5.0.0", want);
}

static void the_one_in_rust_is_told_in_its_own(void **state)
{
	const char *want = "%s--fd=3 --shared-dir=/tmp --cache=auto --log-level=error --xattr "
			   "--sandbox=%s ";

	assert_started_with("virtiofsd 1.13.3", want);
	assert_started_with("virtiofsd backend 1.4.0", want);
	/* One that says nothing is new. */
	assert_started_with("", want);
}

static void a_program_that_cannot_be_started_is_named(void **state)
{
	struct virtiofsd d;
	struct err e = ERR_INIT;
	char want[160];
	int fd;

	snprintf(want, sizeof(want), "cannot start %s: No such file or directory", program);
	assert_int_equal(virtiofsd_start(&d, served, true, &fd, &e), -ENOENT);
	assert_string_equal(e.text, want);
	virtiofsd_stop(&d);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(qemus_is_told_in_its_way),
		T(the_one_in_rust_is_told_in_its_own),
		T(a_program_that_cannot_be_started_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each class's filter on a child that makes one system call, with arguments that its rule has and
 * with each of them changed. The kernel judges; what should come out is worked out from the table.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm/sandbox.h"

#define STATUS       248
#define CALLS        470 /* of x86-64, and a few numbers that are none */
#define ALL_FEATURES (~0u)
/* uretprobe and uprobe: the kernel's own trampolines call them, and no filter is asked. */
#define TRAMPOLINE_FIRST 335
#define TRAMPOLINE_LAST  336
#define X32_BIT          0x40000000

/* Numbers that no descriptor of these children has. */
enum { VCPU_FD = 1001, VM_FD = 1002, KVM_FD = 1003 };

struct call {
	long nr;
	uint64_t args[6];
};

struct end {
	bool refused; /* with the status, after one line */
	int status;   /* of waitpid(2) */
	char text[512];
};

static struct sandbox_config config(enum sandbox_mode mode, unsigned int features)
{
	return (struct sandbox_config){.mode = mode,
				       .status = STATUS,
				       .features = features,
				       .vm_fd = VM_FD,
				       .kvm_fd = KVM_FD};
}

static long make(const struct call *c)
{
	const uint64_t *a = c->args;

	return syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* What the child does behind its filter. It must end by _exit() or otherwise. */
typedef void (*child_fn)(const void *arg);

/* Not by _exit(), in which a sanitizer makes calls of its own. */
static void leave(int status)
{
	syscall(SYS_exit_group, status);
}

static void one_call(const void *arg)
{
	make(arg);
	leave(0);
}

static struct end run_child(const struct sandbox_config *cfg, enum sandbox_class class,
			    child_fn child, const void *arg)
{
	struct end end = {.refused = false};
	size_t len = 0;
	int fds[2];
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct err e;

		alarm(20);
		dup2(fds[1], STDERR_FILENO);
		if (sandbox_prepare(cfg, &e) < 0 || sandbox_enter(cfg, class, VCPU_FD) < 0) {
			_exit(99);
		}
		child(arg);
	}
	close(fds[1]);
	while (len < sizeof(end.text) - 1 &&
	       (n = read(fds[0], end.text + len, sizeof(end.text) - 1 - len)) > 0) {
		len += (size_t)n;
	}
	close(fds[0]);
	assert_int_equal(waitpid(pid, &end.status, 0), pid);
	end.refused = WIFEXITED(end.status) && WEXITSTATUS(end.status) == STATUS;
	return end;
}

/*
 * Where a rule leaves the first argument open: no descriptor, no address and no process. Never -1,
 * which to kill(2) is everybody.
 */
#define NOBODY UINT64_C(0x7ffffff7)

/* The process of the filter: the child's number, which the parent cannot know before. */
#define CHILD_PID UINT64_C(0xc0de0000)

static uint32_t value_of(const struct sandbox_cond *c)
{
	switch (c->kind) {
	case SANDBOX_PID:
		return (uint32_t)CHILD_PID;
	case SANDBOX_VCPU_FD:
		return VCPU_FD;
	case SANDBOX_VM_FD:
		return VM_FD;
	case SANDBOX_KVM_FD:
		return KVM_FD;
	default:
		return c->value;
	}
}

static bool rule_has(const struct sandbox_rule *r, const struct call *c)
{
	if (r->nr != c->nr) {
		return false;
	}
	for (size_t i = 0; i < SANDBOX_CONDS_MAX && r->conds[i].mask; i++) {
		const struct sandbox_cond *cond = &r->conds[i];
		uint64_t given = c->args[cond->arg];

		if ((given & cond->mask) != value_of(cond) || (cond->wide && given >> 32)) {
			return false;
		}
	}
	return true;
}

static bool table_has(enum sandbox_class class, unsigned int features, const struct call *c)
{
	size_t n;
	const struct sandbox_rule *r = sandbox_rules(&n);

	for (size_t i = 0; i < n; i++) {
		bool on = r[i].features == SANDBOX_ALWAYS || r[i].features & features;

		if (on && r[i].classes & (1u << class) && rule_has(&r[i], c)) {
			return true;
		}
	}
	return false;
}

static void insert_pid(const void *arg)
{
	struct call c = *(const struct call *)arg;

	for (size_t i = 0; i < ARRAY_SIZE(c.args); i++) {
		if (c.args[i] == CHILD_PID) {
			c.args[i] = (uint64_t)getpid();
		}
	}
	one_call(&c);
}

static bool is_refused(enum sandbox_class class, unsigned int features, const struct call *c)
{
	const struct sandbox_config cfg = config(SANDBOX_KILL, features);
	struct end end = run_child(&cfg, class, insert_pid, c);

	assert_false(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 99);
	/* Only a line of the handler tells a refused call from one that ended the child. */
	assert_int_equal(end.refused, strstr(end.text, "is not in its list") != NULL);
	return end.refused;
}

/* What the rule has, and otherwise nothing that the kernel would do something about. */
static struct call fitting(const struct sandbox_rule *r)
{
	struct call c = {.nr = r->nr, .args = {NOBODY}};

	for (size_t i = 0; i < SANDBOX_CONDS_MAX && r->conds[i].mask; i++) {
		c.args[r->conds[i].arg] = value_of(&r->conds[i]);
	}
	return c;
}

/* Another value of one argument, which no other rule has either. */
static bool perturb(enum sandbox_class class, const struct sandbox_cond *cond, struct call *c)
{
	const uint64_t right = c->args[cond->arg];
	const uint64_t wrong[] = {right ^ 1, right ^ 4, right ^ 0x40000000, right + 5, right << 1};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		c->args[cond->arg] = wrong[i] & UINT32_MAX;
		if (!table_has(class, ALL_FEATURES, c)) {
			return true;
		}
	}
	return false;
}

static void on_usr1(int sig)
{
}

/* The only call that makes no sense but at a handler's end. */
static void return_from_handler(const void *arg)
{
	raise(SIGUSR1);
	leave(0);
}

static void check_sigreturn(enum sandbox_class class)
{
	const struct sandbox_config cfg = config(SANDBOX_KILL, 0);
	struct end end;

	signal(SIGUSR1, on_usr1);
	end = run_child(&cfg, class, return_from_handler, NULL);
	assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
	assert_string_equal(end.text, "");
}

static void check_rule(enum sandbox_class class, const struct sandbox_rule *r)
{
	struct call c = fitting(r);

	if (r->nr == SYS_rt_sigreturn) {
		check_sigreturn(class);
		return;
	}
	if (is_refused(class, ALL_FEATURES, &c)) {
		fail_msg("class %d: %s is refused (%s)", class, r->name, r->why);
	}
	for (size_t i = 0; i < SANDBOX_CONDS_MAX && r->conds[i].mask; i++) {
		struct call other = c;

		if (!perturb(class, &r->conds[i], &other)) {
			fail_msg("class %d: %s (%s): condition %zu holds for anything", class,
				 r->name, r->why, i);
		}
		if (!is_refused(class, ALL_FEATURES, &other)) {
			fail_msg("class %d: %s (%s) with argument %u = 0x%llx is let through",
				 class, r->name, r->why, r->conds[i].arg,
				 (unsigned long long)other.args[r->conds[i].arg]);
		}
		/* An int's upper half is nothing to the kernel; of a long one it counts. */
		other = c;
		other.args[r->conds[i].arg] |= UINT64_C(0xdead) << 32;
		if (r->conds[i].kind != SANDBOX_PID &&
		    is_refused(class, ALL_FEATURES, &other) != r->conds[i].wide) {
			fail_msg("class %d: %s (%s): the upper half of argument %u", class, r->name,
				 r->why, r->conds[i].arg);
		}
	}
}

static void each_rule_has_its_call_and_no_other(void **state)
{
	size_t n;
	const struct sandbox_rule *r = sandbox_rules(&n);

	for (enum sandbox_class class = 0; class < SANDBOX_CLASSES; class ++) {
		for (size_t i = 0; i < n; i++) {
			if (r[i].classes & (1u << class)) {
				check_rule(class, &r[i]);
			}
		}
	}
}

static void a_call_of_no_rule_is_refused(void **state)
{
	size_t n;
	const struct sandbox_rule *r = sandbox_rules(&n);

	for (enum sandbox_class class = 0; class < SANDBOX_CLASSES; class ++) {
		bool listed[CALLS] = {false};

		for (size_t i = 0; i < n; i++) {
			listed[r[i].nr] |= (r[i].classes & (1u << class)) != 0;
		}
		for (long nr = 0; nr < CALLS; nr++) {
			const struct call c = {.nr = nr, .args = {NOBODY}};

			bool asked = nr < TRAMPOLINE_FIRST || nr > TRAMPOLINE_LAST;

			if (!listed[nr] && asked && !is_refused(class, ALL_FEATURES, &c)) {
				fail_msg("class %d: call %ld is let through", class, nr);
			}
		}
	}
}

static void a_rule_of_a_feature_holds_only_with_it(void **state)
{
	size_t n, seen = 0;
	const struct sandbox_rule *r = sandbox_rules(&n);

	for (size_t i = 0; i < n; i++) {
		const struct call c = fitting(&r[i]);

		for (enum sandbox_class class = 0; class < SANDBOX_CLASSES; class ++) {
			if (!(r[i].classes & (1u << class)) || r[i].features == SANDBOX_ALWAYS) {
				continue;
			}
			seen++;
			assert_int_equal(is_refused(class, ~(unsigned int)r[i].features, &c),
					 !table_has(class, ~(unsigned int)r[i].features, &c));
			assert_false(is_refused(class, r[i].features, &c));
			assert_true(is_refused(class, 0, &c));
		}
	}
	assert_true(seen > 0);
}

static void no_class_can_make_memory_executable(void **state)
{
	for (enum sandbox_class class = 0; class < SANDBOX_CLASSES; class ++) {
		for (uint64_t prot = PROT_EXEC; prot < 8; prot++) {
			const struct call map = {
				SYS_mmap, {0, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0}};
			const struct call protect = {SYS_mprotect, {0, 4096, prot}};

			assert_true(is_refused(class, ALL_FEATURES, &map));
			assert_true(is_refused(class, ALL_FEATURES, &protect));
		}
	}
}

static void the_line_names_call_number_thread_and_arguments(void **state)
{
	const struct sandbox_config cfg = config(SANDBOX_KILL, 0);
	const struct call c = {SYS_ptrace, {16, 1, 0xabc, 0, ~0ull, 7}};
	struct end end = run_child(&cfg, SANDBOX_VCPU, one_call, &c);

	assert_true(end.refused);
	assert_string_equal(end.text,
			    "ringside: error: seccomp: a vCPU's thread made the system call ptrace "
			    "(101), which is not in its list; arguments 0x10 0x1 0xabc 0x0 "
			    "0xffffffffffffffff 0x7\n");
	end = run_child(&cfg, SANDBOX_LOOP, one_call, &c);
	assert_true(strstr(end.text, "seccomp: the loop's thread made"));
}

static void call_of_i386(const void *arg)
{
	long r = 20; /* getpid */

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	leave(0);
}

static void another_architectures_calls_are_refused(void **state)
{
	const struct sandbox_config cfg = config(SANDBOX_KILL, ALL_FEATURES);
	const struct call x32 = {X32_BIT | SYS_getpid, {0}};
	struct end end = run_child(&cfg, SANDBOX_LOOP, call_of_i386, NULL);

	assert_true(is_refused(SANDBOX_LOOP, ALL_FEATURES, &x32));
	/* A kernel that has no such calls says so itself. */
	if (!WIFSIGNALED(end.status) || WTERMSIG(end.status) != SIGSEGV) {
		assert_true(end.refused);
		assert_true(strstr(end.text, "call of another architecture (20)"));
	}
}

static void trap_says_it_too_and_dies_of_the_signal(void **state)
{
	const struct sandbox_config cfg = config(SANDBOX_TRAP, 0);
	const struct call c = {SYS_execve, {0}};
	struct end end = run_child(&cfg, SANDBOX_LOOP, one_call, &c);

	assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSYS);
	assert_true(strstr(end.text, "execve (59)"));
}

static void open_and_report(const void *arg)
{
	leave(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY) >= 0 ? 1 : 2);
}

static void log_and_off_let_the_call_be(void **state)
{
	for (enum sandbox_mode mode = SANDBOX_OFF; mode <= SANDBOX_LOG; mode++) {
		const struct sandbox_config cfg = config(mode, 0);
		struct end end = run_child(&cfg, SANDBOX_LOOP, open_and_report, NULL);

		assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 1);
		assert_string_equal(end.text, "");
	}
}

/* As a thread would that was taken over, by a call which is in the list. */
static void block_and_call(const void *arg)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	one_call(arg);
}

static void a_thread_that_blocks_the_signal_does_not_survive(void **state)
{
	const struct sandbox_config cfg = config(SANDBOX_KILL, ALL_FEATURES);
	const struct call c = {SYS_execve, {0}};

	for (enum sandbox_class class = 0; class < SANDBOX_CLASSES; class ++) {
		struct end end = run_child(&cfg, class, block_and_call, &c);

		assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSYS);
	}
}

static void privileges_cannot_be_gained_any_more(void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		const struct sandbox_config cfg = config(SANDBOX_KILL, 0);
		struct err e;

		_exit(sandbox_prepare(&cfg, &e) < 0 ? 2 : prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

static void modes_have_names(void **state)
{
	static const char *const names[] = {"off", "log", "trap", "kill"};
	enum sandbox_mode mode;

	for (enum sandbox_mode i = SANDBOX_OFF; i <= SANDBOX_KILL; i++) {
		assert_string_equal(sandbox_mode_name(i), names[i]);
		assert_int_equal(sandbox_mode_parse(names[i], &mode), 0);
		assert_int_equal(mode, i);
	}
	assert_int_equal(sandbox_mode_parse("on", &mode), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_its_call_and_no_other),
		cmocka_unit_test(a_call_of_no_rule_is_refused),
		cmocka_unit_test(a_rule_of_a_feature_holds_only_with_it),
		cmocka_unit_test(no_class_can_make_memory_executable),
		cmocka_unit_test(the_line_names_call_number_thread_and_arguments),
		cmocka_unit_test(another_architectures_calls_are_refused),
		cmocka_unit_test(trap_says_it_too_and_dies_of_the_signal),
		cmocka_unit_test(log_and_off_let_the_call_be),
		cmocka_unit_test(a_thread_that_blocks_the_signal_does_not_survive),
		cmocka_unit_test(privileges_cannot_be_gained_any_more),
		cmocka_unit_test(modes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

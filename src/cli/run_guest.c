/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_guest.h. Runs on the main thread. */
#include "cli/run_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/helpers.h"
#include "cli/run_files.h"

/* What the lab's command gets of our environment: what finds programs, files and settings. */
static const char *const lab_env[] = {
	"PATH",   "HOME",    "USER",  "LOGNAME",  "SHELL", "TERM",           "LANG",
	"TZ",     "COLUMNS", "LINES", "NO_COLOR", "CI",    "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"TMPDIR", NULL,
};
static const char *const lab_env_prefixes[] = {"LC_",   "RINGSIDE_", "ASAN_",  "UBSAN_",
					       "TSAN_", "LSAN_",     "PYTHON", NULL};

/* Debian's package haproxy. */
#define HAPROXY_PATH "/usr/sbin/haproxy"

/*
 * At a non-maskable interrupt of nobody's the kernel panics, and a panic shows the backtraces of
 * all CPUs. Where there is no port 0x61, as in QEMU's microvm, it takes the interrupt for a system
 * error, for which there is a sysctl only, set before the first process.
 */
#define NMI_WORDS "unknown_nmi_panic panic_print=64 sysctl.kernel.panic_on_unrecovered_nmi=1"

static bool goes_into_lab(const char *setting)
{
	for (size_t i = 0; lab_env[i]; i++) {
		size_t len = strlen(lab_env[i]);

		if (strncmp(setting, lab_env[i], len) == 0 && setting[len] == '=') {
			return true;
		}
	}
	for (size_t i = 0; lab_env_prefixes[i]; i++) {
		if (text_starts_with(setting, lab_env_prefixes[i])) {
			return true;
		}
	}
	return false;
}

static const char **pick_lab_env(void)
{
	size_t n = 0, kept = 0;
	const char **env;

	while (environ[n]) {
		n++;
	}
	env = calloc(n + 1, sizeof(*env));
	for (size_t i = 0; env && i < n; i++) {
		if (goes_into_lab(environ[i])) {
			env[kept++] = environ[i];
		}
	}
	return env;
}

/* Whether a job runs a benchmark: names select as benchmarks_parse() has it. */
static bool runs(const struct job *job, const char *bench)
{
	for (size_t i = 0; job->bench.names && job->bench.names[i]; i++) {
		size_t len = strlen(job->bench.names[i]);

		if (strncmp(bench, job->bench.names[i], len) == 0 &&
		    (bench[len] == '\0' || bench[len] == '.')) {
			return true;
		}
	}
	return false;
}

/* What benchmarks need beside the program that they are in. */
struct extras {
	struct closure *closure; /* NULL when there is nothing */
	struct initramfs_file files[2];
	size_t n_files;
	struct run_files given; /* --file */
	char nopti[PATH_MAX];
	char pagewalk[PATH_MAX];
};

/* Takes a program along with all that it needs. */
static int add_program(struct extras *x, const char *path, const char *name, struct err *e)
{
	int r = x->closure ? 0 : closure_create("", &x->closure);

	return r < 0 ? err_errno(e, r, "%s", path) : closure_add(x->closure, path, name, e);
}

static int add_haproxy(struct extras *x, struct err *e)
{
	int r = cli_find_helper("ringside-nopti", x->nopti, sizeof(x->nopti), e);

	if (r < 0) {
		return r;
	}
	x->files[x->n_files++] = (struct initramfs_file){
		.name = &GUEST_NOPTI_PATH[1], .path = x->nopti, .perm = 0755};
	if (access(HAPROXY_PATH, R_OK) < 0) {
		return err_set(e, -ENOENT, "conn needs %s: install the package haproxy",
			       HAPROXY_PATH);
	}
	return add_program(x, HAPROXY_PATH, NULL, e);
}

/* This very program, and the payload that it runs there. */
static int add_ringside(struct extras *x, struct err *e)
{
	int r = cli_find_helper("firmware/pagewalk.elf", x->pagewalk, sizeof(x->pagewalk), e);

	if (r < 0) {
		return r;
	}
	x->files[x->n_files++] = (struct initramfs_file){
		.name = &GUEST_PAGEWALK_PATH[1], .path = x->pagewalk, .perm = 0644};
	return add_program(x, "/proc/self/exe", GUEST_RINGSIDE_PATH, e);
}

static int add_given(struct extras *x, const struct run_options *o, bool rooted, struct err *e)
{
	int r = x->closure ? 0 : closure_create("", &x->closure);

	return r < 0 ? err_errno(e, r, "--file")
		     : run_files_find(&o->files, rooted, x->closure, &x->given, e);
}

static int compose(const struct run_options *o, const struct job *job, struct initramfs **ret,
		   struct err *e)
{
	const char *appended[OPT_LIST_MAX + 1] = {NULL};
	char agent[PATH_MAX], bench[PATH_MAX];
	struct extras x = {0};
	struct initramfs_spec spec = {
		.agent_path = agent, .job = job, .files = x.files, .appended = appended};
	int r = cli_find_helper("ringside-agent", agent, sizeof(agent), e);

	if (r == 0 && job->bench.names) {
		r = cli_find_helper("ringside-bench", bench, sizeof(bench), e);
		spec.bench_path = bench;
	}
	if (r == 0 && job->command && !job->lab.cwd && !job->root.share && !job->root.disk) {
		r = initramfs_find_busybox(&spec.busybox_path, e);
	}
	if (r == 0 && (runs(job, "conn.http") || runs(job, "conn.server"))) {
		r = add_haproxy(&x, e);
	}
	if (r == 0 && runs(job, "kvmwalk")) {
		r = add_ringside(&x, e);
	}
	if (r == 0 && o->files.count) {
		r = add_given(&x, o, job->root.share || job->root.disk, e);
	}
	for (size_t i = 0; i < o->initrds.count; i++) {
		appended[i] = o->initrds.items[i];
	}
	if (r == 0) {
		spec.n_files = x.n_files;
		spec.given = x.given.files;
		spec.n_given = x.given.count;
		spec.closure = x.closure;
		r = initramfs_create(&spec, ret, e);
	}
	closure_destroy(x.closure);
	run_files_fini(&x.given);
	return r;
}

static void add_shares(struct job *job, const struct run_shares *s)
{
	job->shares = s->at;
	job->share_count = s->at_count;
	job->root = s->root;
	if (s->cwd) {
		job->cwd = s->cwd;
	}
}

/* Several signs of life in the time that the session waits for one. */
static unsigned int beat_ms(const struct run_options *o)
{
	uint64_t ms = o->hang_timeout_ns / NS_PER_MSEC / 4;

	if (!o->hang_timeout_ns) {
		return 0;
	}
	return ms < 1 ? 1 : ms > JOB_BEAT_MAX_MS ? JOB_BEAT_MAX_MS : (unsigned int)ms;
}

static int compose_job_file(const struct run_options *o, const struct run_shares *shares,
			    const struct run_nets *nets, struct initramfs **ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	struct job job = {0};
	size_t len;
	int r = io_read_file(o->job, JOB_BYTES_MAX, &text, &len, e);

	if (r < 0) {
		return r;
	}
	r = job_read(text, len, &job, e);
	if (r < 0) {
		return err_prefix(e, "--job %s", o->job);
	}
	job.beat_ms = beat_ms(o);
	job.kernel_log = o->fail_on_mask != 0;
	add_shares(&job, shares);
	/* A job may say itself what its networks are. */
	if (job.net_count == 0) {
		run_nets_job(nets, &job);
	}
	r = compose(o, &job, ret, e);
	job_fini(&job);
	return r;
}

static int compose_command(const struct run_options *o, const struct run_shares *shares,
			   const struct run_nets *nets, struct initramfs **ret, struct err *e)
{
	_cleanup_free_ const char **env = NULL;
	const char *rw[OPT_LIST_MAX + 1] = {NULL};
	struct job job = {.command = (const char **)o->rest.command,
			  .beat_ms = beat_ms(o),
			  .kernel_log = o->fail_on_mask != 0};
	char cwd[PATH_MAX];

	if (o->lab) {
		if (!getcwd(cwd, sizeof(cwd))) {
			return err_errno(e, -errno, "the current folder");
		}
		env = pick_lab_env();
		if (!env) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		for (size_t i = 0; i < o->rw.count; i++) {
			rw[i] = o->rw.items[i];
		}
		job.env = env;
		job.lab = (struct job_lab){.cwd = cwd, .rw = rw};
	}
	add_shares(&job, shares);
	run_nets_job(nets, &job);
	return compose(o, &job, ret, e);
}

/**
 * run_guest_initramfs() - put together what the agent needs
 * @o: options with a command or a job
 * @shares: the directories and the root that it mounts
 * @nets: the networks that the guest is to set up
 * @ret: set on success; end it with initramfs_destroy()
 * @e: set on failure
 *
 * Return: 0, or the negative errno of what is missing or wrong.
 * Context: reads files.
 */
int run_guest_initramfs(const struct run_options *o, const struct run_shares *shares,
			const struct run_nets *nets, struct initramfs **ret, struct err *e)
{
	return o->job ? compose_job_file(o, shares, nets, ret, e)
		      : compose_command(o, shares, nets, ret, e);
}

/* A bzImage moves itself to an address of its choice unless told not to; a vmlinux cannot. */
static bool is_elf(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[4] = "";

	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

/*
 * QEMU's software processor has nothing to calibrate its TSC by, so a guest that is not told may
 * take it for unusable. It counts the nanoseconds of the guest's clock under -icount, else this
 * machine's own TSC.
 */
static uint64_t software_cpu_tsc_khz(bool icount)
{
	const struct timespec a_little = {.tv_nsec = 5 * NS_PER_MSEC};
	uint64_t ticks, ns;

	if (icount) {
		return NS_PER_SEC / 1000;
	}
	ns = clock_now_ns(&clock_monotonic);
	ticks = __rdtsc();
	nanosleep(&a_little, NULL);
	ticks = __rdtsc() - ticks;
	ns = clock_now_ns(&clock_monotonic) - ns;
	return ticks * 1000000 / ns;
}

/* Who asks for the virtio console means it in place of the serial one: both come out together. */
static bool wants_hvc(const struct run_options *o)
{
	for (size_t i = 0; i < o->append.count; i++) {
		if (strstr(o->append.items[i], "console=hvc")) {
			return true;
		}
	}
	return false;
}

/**
 * run_guest_append() - the kernel's command line: ours, then the user's
 * @o: parsed options
 * @kernel_path: the kernel that it is for
 * @qemu: for QEMU's microvm, else for our own machine
 * @ret: set on success; the caller frees it
 * @e: set on failure
 *
 * Return: 0 or -ENOMEM.
 */
int run_guest_append(const struct run_options *o, const char *kernel_path, bool qemu, char **ret,
		     struct err *e)
{
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	/*
	 * A panic resets at once, and a reset goes the shortest way: by the keyboard controller,
	 * which QEMU's microvm does not have.
	 */
	fprintf(f, "%spanic=-1 reboot=%s random.trust_cpu=on",
		!qemu && wants_hvc(o) ? "" : "console=ttyS0 ", qemu ? "t" : "k");
	/* Nothing to look for: no keyboard, and no serial lines but the two. */
	fputs(" i8042.noaux i8042.nokbd 8250.nr_uarts=2", f);
	if (run_options_has_job(o)) {
		/* What --fail-on looks for is said as a warning, which quiet keeps off the console.
		 */
		fprintf(f, " %s%s", o->fail_on_mask ? "loglevel=5" : "quiet",
			o->initrds.count ? " rdinit=" GUEST_AGENT_PATH : "");
	}
	if (!is_elf(kernel_path)) {
		fputs(" nokaslr", f);
	}
	if (qemu) {
		fprintf(f, " no_timer_check tsc=reliable tsc_early_khz=%" PRIu64,
			software_cpu_tsc_khz(o->icount != RUN_ICOUNT_OFF));
		/* Its SVM may deliver an interrupt twice: docs/lab.md. */
		fputs(" kvm_amd.exit_after_irq=1", f);
	}
	if (o->nmi) {
		fputs(" " NMI_WORDS, f);
	}
	for (size_t i = 0; i < o->append.count; i++) {
		fprintf(f, " %s", o->append.items[i]);
	}
	if (fclose(f) != 0) {
		free(text);
		return err_set(e, -ENOMEM, "out of memory");
	}
	*ret = text;
	return 0;
}

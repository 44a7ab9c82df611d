/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_options.h. Runs on the main thread before anything else is started. */
#include "cli/run_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/helpers.h"
#include "cli/output_file.h"
#include "cli/run_memory.h"
#include "engine/control_path.h"
#include "engine/session.h"
#include "samples/class.h"

#define MEMORY_DEFAULT_BYTES     (UINT64_C(512) << 20)
#define MEMORY_LAB_DEFAULT_BYTES (UINT64_C(2) << 30)
/* A limit of the number's size only: what fits is for the backend and the host to say. */
#define CPUS_MAX 1024
/* Files that one option each names: the kernel as it was given and found, its symbols, the job, a
 * root. */
#define INPUTS_SINGLE 5

static int parse_fail_on(struct run_options *o, struct err *e)
{
	int r = o->fail_on ? session_fail_on_parse(o->fail_on, &o->fail_on_mask, e) : 0;

	if (r < 0) {
		err_prefix(e, "--fail-on");
	}
	return r;
}

static int parse_allow(struct run_options *o, struct err *e)
{
	int r = o->allow.count ? console_allow_create(&o->allowed, e) : 0;

	for (size_t i = 0; r == 0 && i < o->allow.count; i++) {
		r = console_allow_add(o->allowed, o->allow.items[i], e);
	}
	return r < 0 ? err_prefix(e, "--allow") : 0;
}

static void print_features(void)
{
	size_t count, column = 0;
	const struct x86_feature *f = x86_features(&count);

	printf("bases: host x86-64-v1 x86-64-v2 x86-64-v3 x86-64-v4\nfeatures:");
	for (size_t i = 0; i <= count; i++) {
		const char *name = i < count ? f[i].name : "pmu";

		if (column + strlen(name) > 80) {
			printf("\n         ");
			column = 0;
		}
		column += (size_t)printf(" %s", name);
	}
	printf("\n");
}

static int parse_gdb(struct run_options *o, struct err *e)
{
	static const char nowait[] = ",nowait";
	size_t len = strlen(o->gdb);
	uint64_t port;

	if (len >= sizeof(o->gdb_where)) {
		return err_set(e, -ENAMETOOLONG, "--gdb: the path is too long");
	}
	strcpy(o->gdb_where, o->gdb);
	if (len > strlen(nowait) && strcmp(o->gdb + len - strlen(nowait), nowait) == 0) {
		o->gdb_nowait = true;
		o->gdb_where[len - strlen(nowait)] = '\0';
	}
	if (!strchr(o->gdb_where, '/') &&
	    (text_parse_u64(o->gdb_where, &port) < 0 || port > UINT16_MAX)) {
		return err_set(e, -EINVAL,
			       "--gdb: expected a port, 0 to 65535, or a path with a '/', maybe "
			       "followed by ',nowait', got '%s'",
			       o->gdb);
	}
	return 0;
}

static bool is_written_to(const char *root)
{
	static const char rw[] = ",rw";
	size_t len = root ? strlen(root) : 0;

	return len > strlen(rw) && strcmp(root + len - strlen(rw), rw) == 0;
}

/* What ends the kernel's words: the rest goes to the first process. */
static bool has_end(const char *words)
{
	for (const char *p = words; (p = strstr(p, "--")); p++) {
		if ((p == words || p[-1] == ' ') && (p[2] == ' ' || p[2] == '\0')) {
			return true;
		}
	}
	return false;
}

static int check_append(const struct run_options *o, struct err *e)
{
	for (size_t i = 0; run_options_has_job(o) && i < o->append.count; i++) {
		if (has_end(o->append.items[i])) {
			return err_set(e, -EINVAL,
				       "--append '%.200s': a '--' hands what is behind it to the "
				       "first process, which is ringside's agent here and takes no "
				       "words",
				       o->append.items[i]);
		}
	}
	return 0;
}

/* Values with words of their own. */
static int parse_values(struct run_options *o, struct err *e)
{
	int r = log_debug_setup(o->debug ? o->debug : getenv("RINGSIDE_DEBUG"),
				o->debug ? "--debug" : "RINGSIDE_DEBUG", e);

	if (r == 0) {
		r = parse_fail_on(o, e);
	}
	if (r == 0) {
		r = parse_allow(o, e);
	}
	if (r == 0) {
		r = x86_cpu_spec_parse(o->cpu, &o->cpu_spec, e);
	}
	if (r == 0) {
		r = check_append(o, e);
	}
	if (r == 0) {
		r = run_pages_parse(o->pages, &o->memory, e);
	}
	o->clock_kind = strcmp(o->clock, "tsc") == 0        ? X86_CLOCK_TSC
			: strcmp(o->clock, "kvmclock") == 0 ? X86_CLOCK_KVM
							    : X86_CLOCK_AUTO;
	return r < 0 || !o->gdb ? r : parse_gdb(o, e);
}

/* What the guest is given goes with what it is to do. */
static int check_guest(const struct run_options *o, struct err *e)
{
	if (o->lab && o->rest.command_count == 0) {
		return err_set(e, -EINVAL, "--lab needs a command behind '--'");
	}
	if (o->hang_timeout_ns && !run_options_has_job(o)) {
		return err_set(e, -EINVAL, "--hang-timeout needs a command behind '--', or --job");
	}
	if (o->root && !run_options_has_job(o)) {
		return err_set(e, -EINVAL, "--root needs a command behind '--', or --job");
	}
	if (o->files.count && (!run_options_has_job(o) || o->lab)) {
		return err_set(e, -EINVAL, "--file needs a command behind '--', or --job%s",
			       o->lab ? ", and no --lab" : "");
	}
	if (o->files.count && is_written_to(o->root)) {
		return err_set(e, -EINVAL, "--file writes nothing into a --root that is rw");
	}
	if (o->init && !o->root) {
		return err_set(e, -EINVAL, "--init is only for --root");
	}
	if (o->lab && (o->root || o->shares.count)) {
		return err_set(e, -EINVAL, "--lab has a root and shares of its own: see --rw");
	}
	if (o->rw.count && !o->lab) {
		return err_set(e, -EINVAL, "--rw is only for --lab");
	}
	for (size_t i = 0; i < o->rw.count; i++) {
		if (o->rw.items[i][0] != '/') {
			return err_set(e, -EINVAL, "--rw: expected an absolute path, got '%s'",
				       o->rw.items[i]);
		}
	}
	if (o->rw.count == OPT_LIST_MAX) {
		return err_set(e, -EINVAL, "--rw: at most %d folders", OPT_LIST_MAX - 1);
	}
	if (!run_options_has_job(o) && o->initrds.count > 1) {
		return err_set(e, -EINVAL, "--initrd may be given once without a command or --job");
	}
	return 0;
}

static int check(struct run_options *o, struct err *e)
{
	int r = parse_values(o, e);

	if (r < 0) {
		return r;
	}
	if (o->name && control_name_check(o->name, e) < 0) {
		return err_prefix(e, "--name");
	}
	if (o->console_stamps && !o->console) {
		return err_set(e, -EINVAL, "--console-stamps needs --console FILE");
	}
	if (o->job && o->rest.has_dashdash) {
		return err_set(e, -EINVAL,
			       "--job and a command behind '--' exclude each other: a "
			       "job names its command itself");
	}
	if (strcmp(o->backend, "kvm") == 0 && (o->icount != RUN_ICOUNT_OFF || o->lab)) {
		return err_set(e, -EINVAL, "%s needs --backend qemu",
			       o->lab ? "--lab" : "--icount");
	}
	if (o->seccomp) {
		r = sandbox_mode_parse(o->seccomp, &o->seccomp_mode);
	}
	if (r < 0) {
		return err_set(e, r, "--seccomp %s", o->seccomp);
	}
	r = check_guest(o, e);
	if (r < 0) {
		return r;
	}
	if (o->memory_bytes == 0) {
		o->memory_bytes = o->lab ? MEMORY_LAB_DEFAULT_BYTES : MEMORY_DEFAULT_BYTES;
	}
	return 0;
}

/**
 * run_options_parse() - read the command line of "ringside run"
 * @o: set; points into @argv
 * @argc: number of words, the command's name first
 * @argv: the words
 * @e: set on failure
 *
 * Return: 0, OPT_SHOWN_HELP, or -EINVAL.
 */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *e)
{
	const struct opt_row rows[] = {
		{OPT_GROUP, .help = "The guest"},
		{OPT_STRING, "kernel", 'k', &o->kernel, .arg = "FILE|NAME",
		 .help = "vmlinux or bzImage, or an image of the cache [base]"},
		{OPT_STRING, "kernel-debug", 0, &o->kernel_debug, .arg = "VMLINUX",
		 .help = "the vmlinux with the kernel's symbols, for the names of addresses [the "
			 "kernel itself]"},
		{OPT_LIST, "initrd", 'i', &o->initrds, .arg = "FILE",
		 .help = "initrd; with a command it comes after ringside's own archive"},
		{OPT_LIST, "append", 'a', &o->append, .arg = "TEXT",
		 .help = "kernel command line, after ringside's own words"},
		{OPT_CHOICE, "acpi", 0, &o->acpi, .choices = "auto|on|off", .arg = "HOW",
		 .help = "whether ACPI tables tell the kernel of its devices, or the command line; "
			 "auto: tables if there is ACPI in the kernel [auto]"},
		{OPT_CHOICE, "entry", 0, &o->entry, .choices = "auto|linux64|pvh", .arg = "HOW",
		 .help = "how the kernel is started: linux64, the 64-bit boot protocol, which is "
			 "auto's; pvh, the Xen note of a vmlinux [auto]"},
		{OPT_U64, "cpus", 'c', &o->cpus, .min = 1, .max = CPUS_MAX, .arg = "N",
		 .help = "number of vCPUs [1]"},
		{OPT_STRING, "pin", 0, &o->pin, .arg = "auto|LIST",
		 .help = "run each vCPU on one processor of this machine and on no other: vCPU 0 "
			 "on the first of LIST (such as 0,2-3), and so on"},
		{OPT_STRING, "cpu", 0, &o->cpu, .arg = "[BASE,][-|+]FEATURE,...",
		 .help = "what CPUID offers: host or x86-64-v1 to -v4, features taken away or "
			 "demanded, +pmu for performance counters; help lists them [host,-pmu]"},
		{OPT_CHOICE, "clock", 0, &o->clock, .choices = "auto|kvmclock|tsc", .arg = "WHICH",
		 .help = "what the guest keeps time by: kvmclock; tsc, the time-stamp counter, if it "
			 "is invariant here; auto: the kernel chooses [auto]"},
		{OPT_BYTES, "memory", 'm', &o->memory_bytes, .min = 1, .arg = "SIZE",
		 .help = "guest memory, in MiB without a unit [512M, with --lab 2G]"},
		{OPT_STRING, "pages", 0, &o->pages, .arg = "KIND",
		 .help = "pages that guest memory is made of: auto, normal, thp (transparent huge "
			 "pages), hugetlb[=2M|1G] (reserved huge pages) [auto]"},
		{OPT_FLAG, "prefault", 0, &o->memory.prefault,
		 .help = "have all of guest memory there before the guest starts"},
		{OPT_FLAG, "lock-memory", 0, &o->memory.lock,
		 .help = "keep guest memory from being swapped out"},
		{OPT_LIST, "disk", 'd', &o->disks, .arg = "FILE[,ro][,direct]",
		 .help = "a raw image or block device as virtio disk: vda, vdb, ...; ro: for "
			 "reading only, direct: past this machine's page cache"},
		{OPT_LIST, "share", 0, &o->shares, .arg = "DIR[:MOUNT][,rw]",
		 .help = "a directory of this machine, found at MOUNT [/mnt/NAME]; for reading only "
			 "without rw"},
		{OPT_STRING, "root", 0, &o->root, .arg = "DIR|IMAGE[,rw]",
		 .help = "the command's root: a directory or a raw disk image; what it writes stays "
			 "in the guest's memory without rw"},
		{OPT_LIST, "file", 0, &o->files, .arg = "FILE[:PLACE]",
		 .help = "copy a file or folder of this machine into the guest [/tmp/NAME]; a program "
			 "brings the libraries that it needs, unless there is a --root"},
		{OPT_FLAG, "init", 0, &o->init,
		 .help = "with --root: its own init is the first process, and the command runs once "
			 "that is up"},
		{OPT_STRING, "vsock", 0, &o->vsock, .arg = "PATH[,cid=N]",
		 .help = "sockets between guest and host: programs of the host connect to the Unix "
			 "socket PATH and write 'CONNECT port', the guest's to port n reach "
			 "PATH_n [cid 3]"},
		{OPT_LIST, "net", 'n', &o->nets, .arg = "user|tap=NAME|fd=N[,...]",
		 .help = "a network device: user: as a program of this machine's, by passt; tap: "
			 "plugged into that interface; fd: into one that is open, or a stream "
			 "socket [none]"},
		{OPT_FLAG, "rng", 0, &o->rng, .help = "an entropy device fed by this machine"},
		{OPT_GROUP, .help = "Where it runs"},
		{OPT_CHOICE, "backend", 'b', &o->backend, .choices = "auto|kvm|qemu",
		 .arg = "WHERE",
		 .help = "kvm: ringside's own VMM; qemu: QEMU's software CPU; auto: kvm where it "
			 "can run a kernel [auto]"},
		{OPT_FLAG, "force", 0, &o->force,
		 .help = "with --backend kvm: start even where KVM only interprets ring 0"},
		{OPT_CHOICE, "seccomp", 0, &o->seccomp, .choices = "kill|trap|log|off",
		 .arg = "MODE",
		 .help = "with --backend kvm, a system call that ringside has no business with: "
			 "kill ends the run with 248 and a line that names it, trap with SIGSYS, "
			 "log lets it be [kill]"},
		{OPT_U64, "icount", 0, &o->icount, .max = EXEC_ICOUNT_SHIFT_MAX, .arg = "SHIFT",
		 .help = "under QEMU: an instruction takes 2^SHIFT ns of guest time"},
		{OPT_FLAG, "lab", 0, &o->lab,
		 .help = "under QEMU: the command runs in this machine's root, read-only, on a "
			 "host kernel with KVM"},
		{OPT_LIST, "rw", 0, &o->rw, .arg = "DIR",
		 .help = "with --lab: share this folder for writing"},
		{OPT_GROUP, .help = "Ends"},
		{OPT_SECONDS, "timeout", 't', &o->timeout_ns, .arg = "TIME",
		 .help = "for all of the run; then exit status 244 [none]"},
		{OPT_SECONDS, "boot-timeout", 0, &o->boot_timeout_ns, .arg = "TIME",
		 .help = "until the guest's user space starts; then 242 [none]"},
		{OPT_SECONDS, "hang-timeout", 0, &o->hang_timeout_ns, .arg = "TIME",
		 .help = "with a command: the agent gives signs of life; none for so long is 243 "
			 "[none]"},
		{OPT_FLAG, "nmi", 0, &o->nmi,
		 .help = "ask a guest that hangs or meets a timeout for a backtrace of each CPU, by a "
			 "non-maskable interrupt, which its kernel is told to panic at"},
		{OPT_STRING, "fail-on", 0, &o->fail_on, .arg = "LIST",
		 .help = "oops, warn, kasan, kcsan, ubsan, lockdep, rcu, lockup, hung, taint, all: what "
			 "on the console ends the run with 241 [none]"},
		{OPT_LIST, "allow", 0, &o->allow, .arg = "PATTERN",
		 .help = "a console line that this extended regular expression is found in is "
			 "nothing for --fail-on"},
		{OPT_GROUP, .help = "Output"},
		{OPT_STRING, "console", 0, &o->console, .arg = "FILE",
		 .help = "write the guest's console there [with a command: its last 200 lines are "
			 "shown after a failure; without: stdin and stdout]"},
		{OPT_FLAG, "console-stamps", 0, &o->console_stamps,
		 .help = "with --console: before each line the seconds since the start"},
		{OPT_STRING, "json", 0, &o->json, .arg = "FD|FILE",
		 .help = "write the run's record there, one line of JSON"},
		{OPT_STRING, "status-file", 0, &o->status_file, .arg = "FILE",
		 .help = "write the command's true exit status there, or the kind of failure"},
		{OPT_STRING, "core", 0, &o->core, .arg = "FILE",
		 .help = "after a failure, write the guest's memory and registers there, as an ELF "
			 "core for GDB; of a run that went well there is none"},
		{OPT_STRING, "gdb", 0, &o->gdb, .arg = "PORT|PATH[,nowait]",
		 .help = "let GDB in by this loopback port or Unix socket; the guest waits for it "
			 "unless told not to [none]"},
		{OPT_STRING, "name", 0, &o->name, .arg = "NAME",
		 .help = "let 'ringside ctl NAME' pause, stop and look at this run [none]"},
		{OPT_STRING, "stats", 0, &o->stats, .arg = "FILE",
		 .help = "write there, as JSON, how often and how long exits to user space kept each "
			 "vCPU, what its thread waited for, and KVM's statistics; -: a table on "
			 "stderr"},
		{OPT_STRING, "trace", 0, &o->trace, .arg = "FILE",
		 .help = "write there what the machine and its devices do, and when, for Perfetto "
			 "and chrome://tracing"},
		{OPT_STRING, "debug", 0, &o->debug, .arg = "AREA,...",
		 .help = "say on stderr what goes on there; help lists the areas "
			 "[$RINGSIDE_DEBUG]"},
		{OPT_GROUP, .help = "For programs"},
		{OPT_STRING, "job", 0, &o->job, .arg = "FILE",
		 .help = "what the guest's agent does, as JSON"},
		{OPT_STRING, "kernel-sha256", 0, &o->kernel_sha256, .arg = "HEX",
		 .help = "the kernel's SHA-256 for the record, when it is known already"},
		{OPT_END},
	};
	const struct opt_command cmd = {
		.name = "run",
		.usage = "[OPTION]... [-- COMMAND [ARG]...]",
		.about =
			"Boots a kernel in a virtual machine. With a command, runs it in the guest "
			"and passes on its output and exit status (0 to 239). Without, the guest's "
			"console is on stdin and stdout; on a terminal, Ctrl-A x ends it.\n"
			"Exit statuses of ringside's own: 240 kernel panic, 241 --fail-on, 242 no "
			"boot, 243 hang, 244 --timeout, 245 no status, 246 triple fault or KVM "
			"error, 247 KVM not usable, 248 fault of the VMM, 249 usage or "
			"configuration.",
		.rows = rows,
		.takes_command = true,
	};
	int r;

	*o = (struct run_options){.kernel = "base",
				  .cpus = 1,
				  .backend = "auto",
				  .entry = "auto",
				  .clock = "auto",
				  .acpi = "auto",
				  .seccomp_mode = SANDBOX_DEFAULT,
				  .icount = RUN_ICOUNT_OFF};
	r = opt_parse(&cmd, argc, argv, &o->rest, e);
	if (r == 0 && o->cpu && strcmp(o->cpu, "help") == 0) {
		print_features();
		return OPT_SHOWN_HELP;
	}
	if (r == 0 && o->debug && strcmp(o->debug, "help") == 0) {
		log_print_areas();
		return OPT_SHOWN_HELP;
	}
	return r ? r : check(o, e);
}

/* A value as it is and without the words behind its file's name: none of it is parsed yet. */
static int add_inputs(char **inputs, size_t *n, const char *value)
{
	static const char *const words[] = {",ro", ",rw", ",direct"};
	size_t len = strlen(value);
	bool cut = true;
	char *whole = strdup(value), *file;

	while (cut) {
		cut = false;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			size_t word = strlen(words[i]);

			if (len > word && memcmp(value + len - word, words[i], word) == 0) {
				len -= word;
				cut = true;
			}
		}
	}
	file = strndup(value, len);
	inputs[(*n)++] = whole;
	inputs[(*n)++] = file;
	return whole && file ? 0 : -ENOMEM;
}

/* HOST[:GUEST] of --file, in both readings too. */
static int add_copied(char **inputs, size_t *n, const char *value)
{
	size_t len = text_host_len(value);
	char *host = strndup(value, len);
	int r = add_inputs(inputs, n, value);

	inputs[(*n)++] = host;
	return host ? r : -ENOMEM;
}

/* Every file that the guest is made of, into an array that is all NULL. */
static int list_inputs(const struct run_options *o, char **ret)
{
	const char *const single[] = {o->kernel, o->kernel_debug, o->job, o->root};
	char kernel[PATH_MAX];
	struct err ignored = ERR_INIT; /* one that is not found is told of later */
	size_t n = 0;
	int r = 0;

	if (o->kernel && cli_find_kernel(o->kernel, kernel, sizeof(kernel), &ignored) == 0) {
		r = add_inputs(ret, &n, kernel);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(single); i++) {
		r = single[i] ? add_inputs(ret, &n, single[i]) : 0;
	}
	for (size_t i = 0; r == 0 && i < o->initrds.count; i++) {
		r = add_inputs(ret, &n, o->initrds.items[i]);
	}
	for (size_t i = 0; r == 0 && i < o->disks.count; i++) {
		r = add_inputs(ret, &n, o->disks.items[i]);
	}
	for (size_t i = 0; r == 0 && i < o->files.count; i++) {
		r = add_copied(ret, &n, o->files.items[i]);
	}
	return r;
}

/**
 * run_options_check_outputs() - whether an output would overwrite what the guest is made of
 * @o: parsed options, or those up to one that is wrong; a status file that is refused is forgotten,
 *     since it would be written at the end of all
 * @e: set on failure, or NULL
 *
 * Return: 0 or -EINVAL.
 * Context: main thread, before anything is opened.
 */
int run_options_check_outputs(struct run_options *o, struct err *e)
{
	const size_t n =
		2 * (INPUTS_SINGLE + o->initrds.count + o->disks.count) + 3 * o->files.count;
	_cleanup_free_ char **inputs = calloc(n, sizeof(*inputs));
	const struct {
		const char *option, *path;
	} outputs[] = {{"--json", o->json},
		       {"--console", o->console},
		       {"--stats", o->stats},
		       {"--trace", o->trace}};
	int r = inputs ? list_inputs(o, inputs) : -ENOMEM;

	if (r < 0) {
		o->status_file = NULL;
		r = err_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	r = output_check_inputs("--status-file", o->status_file, (const char *const *)inputs, n, e);
	if (r < 0) {
		o->status_file = NULL;
		goto out;
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(outputs); i++) {
		r = output_check_inputs(outputs[i].option, outputs[i].path,
					(const char *const *)inputs, n, e);
	}
	if (r == 0) {
		r = output_check("--core", o->core, (const char *const *)inputs, n, e);
	}
out:
	for (size_t i = 0; inputs && i < n; i++) {
		free(inputs[i]);
	}
	return r;
}

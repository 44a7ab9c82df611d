/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See test_machine.h. Main thread, before and between the boots. */
#include "cli/test_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/class_detect.h"
#include "cli/helpers.h"
#include "samples/record.h"
#include "vmm/inspect.h"

#define DEFAULT_KERNEL "base"
#define SMALL_FILE_MAX (1 << 16)

/* A number behind a word in a small file of the kernel's. */
static bool read_number(const char *path, const char *word, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	struct err e = ERR_INIT;
	const char *at;
	size_t len;

	if (io_read_file(path, SMALL_FILE_MAX, &text, &len, &e) < 0) {
		return false;
	}
	at = strstr(text, word);
	return at && sscanf(at + strlen(word), "%" SCNu64, ret) == 1;
}

/* A container's limit counts where there is one: it is less than the machine has. */
static void find_memory(struct test_machine *m)
{
	uint64_t total_kib = 0, free_kib = 0, max, used = 0;

	(void)read_number("/proc/meminfo", "MemTotal:", &total_kib);
	(void)read_number("/proc/meminfo", "MemAvailable:", &free_kib);
	m->memory_bytes = total_kib << 10;
	m->memory_free_bytes = free_kib << 10;
	if (read_number("/sys/fs/cgroup/memory.max", "", &max) && max < m->memory_bytes) {
		(void)read_number("/sys/fs/cgroup/memory.current", "", &used);
		m->memory_bytes = max;
		max -= used < max ? used : max;
		m->memory_free_bytes = max < m->memory_free_bytes ? max : m->memory_free_bytes;
	}
}

static void find_processors(struct test_machine *m)
{
	_cleanup_free_ char *text = NULL;
	struct err e = ERR_INIT;
	uint64_t quota, period;
	cpu_set_t set;
	size_t len;

	m->processors = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
	if (io_read_file("/sys/fs/cgroup/cpu.max", SMALL_FILE_MAX, &text, &len, &e) == 0 &&
	    sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 && period > 0) {
		size_t whole = (size_t)((quota + period - 1) / period);

		m->processors = whole < m->processors ? whole : m->processors;
	}
	m->processors = m->processors ? m->processors : 1;
}

static bool is_payload(const struct suite_case *c)
{
	return c->test->kind == SUITE_FIRMWARE;
}

static const char *name_of(const struct suite_case *c)
{
	return is_payload(c) ? c->test->path : c->kernel ? c->kernel : DEFAULT_KERNEL;
}

static struct test_kernel *find_kernel(const struct test_machine *m, const struct suite_case *c)
{
	for (size_t i = 0; i < m->kernel_count; i++) {
		if (m->kernels[i].payload == is_payload(c) &&
		    strcmp(m->kernels[i].name, name_of(c)) == 0) {
			return &m->kernels[i];
		}
	}
	return NULL;
}

static int add_kernel(struct test_machine *m, const struct suite_case *c, struct err *e)
{
	struct test_kernel *more = realloc(m->kernels, (m->kernel_count + 1) * sizeof(*more));
	struct load_image image;
	char path[PATH_MAX];
	struct test_kernel *k;
	int r;

	if (!more) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	m->kernels = more;
	k = &more[m->kernel_count];
	*k = (struct test_kernel){.name = name_of(c), .payload = is_payload(c)};
	if (k->payload) {
		r = cli_check_file("payload", k->name, e);
		snprintf(path, sizeof(path), "%s", k->name);
	} else {
		r = cli_find_kernel(k->name, path, sizeof(path), e);
	}
	if (r == 0) {
		r = load_image_open(path, &image, e);
	}
	if (r < 0) {
		return r;
	}
	load_image_close(&image);
	/* Once for all its boots: each of them would read the whole file. */
	r = record_file_sha256(path, &k->sha256, e);
	if (r < 0) {
		return r;
	}
	k->path = strdup(path);
	m->kernel_count++;
	return k->path ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int choose_backend(const struct test_options *o, struct test_machine *m, struct err *e)
{
	struct class_facts facts;
	struct class_result class;

	if (strcmp(o->backend, "qemu") == 0) {
		m->has_class = true;
		m->class = o->icount == TEST_NOT_GIVEN ? EXEC_TCG : EXEC_ICOUNT;
		snprintf(m->why, sizeof(m->why), "--backend qemu was asked for");
		return 0;
	}
	class_collect(&facts);
	class_judge(&facts, &class);
	m->kvm_payloads = facts.kvm.error == 0;
	m->kvm = m->kvm_payloads && class.known && exec_class_runs_kernels(class.class);
	m->has_class = true;
	m->class = m->kvm ? class.class : EXEC_TCG;
	if (m->kvm) {
		return 0;
	}
	snprintf(m->why, sizeof(m->why), "%s%s", facts.kvm.error ? "" : "ring0: ",
		 facts.kvm.error ? facts.kvm.text : class.evidence);
	if (o->require_kvm || strcmp(o->backend, "kvm") == 0) {
		return err_set(e, -ENODEV, "%s: %s",
			       o->require_kvm ? "--require-kvm" : "--backend kvm", m->why);
	}
	return 0;
}

/**
 * test_machine_find() - look at this machine, and find the kernels
 * @o: parsed options
 * @plan: the cases; must outlive @ret
 * @ret: set on success; end it with test_machine_fini()
 * @e: set on failure
 *
 * Return: 0; -ENODEV where there is no KVM and it is demanded; -ENOMEM; as cli_find_kernel().
 * Context: main thread; takes up to a tenth of a second, and reads the kernels.
 */
int test_machine_find(const struct test_options *o, const struct suite_plan *plan,
		      struct test_machine *ret, struct err *e)
{
	struct test_machine m = {0};
	bool kernels = false;
	int r = choose_backend(o, &m, e);

	for (size_t i = 0; r == 0 && i < plan->count; i++) {
		kernels |= !is_payload(&plan->cases[i]);
		if (!find_kernel(&m, &plan->cases[i])) {
			r = add_kernel(&m, &plan->cases[i], e);
		}
	}
	if (r < 0) {
		test_machine_fini(&m);
		return r;
	}
	if (kernels && !m.kvm && strcmp(o->backend, "auto") == 0) {
		log_warn("no KVM for kernels on this machine, so they run on QEMU's software "
			 "processor: %s",
			 m.why);
	}
	find_memory(&m);
	find_processors(&m);
	*ret = m;
	return 0;
}

/**
 * test_machine_fini() - free what was found
 * @m: found, half found, or all zero
 *
 * Context: any thread.
 */
void test_machine_fini(struct test_machine *m)
{
	for (size_t i = 0; i < m->kernel_count; i++) {
		free(m->kernels[i].path);
		free(m->kernels[i].sha256);
		free(m->kernels[i].config);
	}
	free(m->kernels);
	*m = (struct test_machine){0};
}

/**
 * test_machine_limits() - how many may run at once
 * @m: this machine
 * @o: parsed options; a number in them counts as it is
 * @cfg: its jobs, cpus and memory_bytes are set
 *
 * Context: any thread.
 */
void test_machine_limits(const struct test_machine *m, const struct test_options *o,
			 struct test_run_config *cfg)
{
	cfg->jobs = o->jobs ? o->jobs : (unsigned int)m->processors;
	cfg->cpus = o->jobs ? 0 : m->processors;
	cfg->memory_bytes = o->jobs ? 0 : m->memory_free_bytes;
}

/**
 * test_machine_boot() - what a case boots, and where
 * @m: this machine
 * @c: a case of the plan that it was found for
 *
 * A payload needs no more of KVM than that it is there: what ring 0 is like is for it to find out.
 *
 * Return: for test_run(); points into @m.
 * Context: any thread.
 */
struct test_run_boot test_machine_boot(const struct test_machine *m, const struct suite_case *c)
{
	const struct test_kernel *k = find_kernel(m, c);
	bool kvm = is_payload(c) ? m->kvm_payloads : m->kvm;

	return (struct test_run_boot){
		.kernel = k->path,
		.sha256 = k->sha256,
		.backend = kvm ? "kvm" : "qemu",
		.force = kvm && !m->kvm,
	};
}

/* The kernel's configuration: inside it, or beside it as 'ringside kernel build' leaves it. */
static const char *config_of(struct test_kernel *k)
{
	_cleanup_free_ char *beside = NULL;
	struct err e = ERR_INIT;
	struct inspection in;
	size_t len;

	if (k->looked) {
		return k->config;
	}
	k->looked = true;
	if (inspect_open(k->path, &in, &e) == 0) {
		k->config = TAKE_PTR(in.config);
		inspect_close(&in);
	}
	if (!k->config && strrchr(k->path, '/') &&
	    asprintf(&beside, "%.*sconfig", (int)(strrchr(k->path, '/') + 1 - k->path), k->path) >=
		    0 &&
	    io_read_file(beside, INSPECT_CONFIG_MAX, &k->config, &len, &e) < 0) {
		k->config = NULL;
	}
	return k->config;
}

static bool lacks_config(struct test_kernel *k, const struct suite_need *need, char *why,
			 size_t len)
{
	const char *config = config_of(k), *equals = strchr(need->value, '=');
	char name[128];
	enum inspect_value v;

	snprintf(name, sizeof(name), "%.*s",
		 equals ? (int)(equals - need->value) : (int)strlen(need->value), need->value);
	if (!config) {
		snprintf(why, len, "%s: the configuration of kernel %s is not known", need->text,
			 k->name);
		return true;
	}
	v = inspect_value(config, name);
	if (v == INSPECT_NO || (equals && (equals[1] == 'm') != (v == INSPECT_MODULE))) {
		snprintf(why, len, "%s: kernel %s has it %s", need->text, k->name,
			 v == INSPECT_NO       ? "not"
			 : v == INSPECT_MODULE ? "as a module"
					       : "built in");
		return true;
	}
	return false;
}

static bool lacks(struct test_machine *m, const struct suite_case *c, const struct suite_need *n,
		  char *why, size_t len)
{
	char size[32];

	switch (n->kind) {
	case SUITE_NEED_KVM:
		snprintf(why, len, "%s: %s", n->text, m->why);
		return !m->kvm;
	case SUITE_NEED_CLASS:
		snprintf(why, len, "%s: this is class %s", n->text, exec_class_name(m->class));
		return (uint64_t)m->class != n->number;
	case SUITE_NEED_CONFIG:
		return lacks_config(find_kernel(m, c), n, why, len);
	case SUITE_NEED_FILE:
		snprintf(why, len, "%s: %s", n->text, strerror(ENOENT));
		return access(n->value, F_OK) < 0;
	case SUITE_NEED_CPUS:
		snprintf(why, len, "%s: this machine has %zu", n->text, m->processors);
		return m->processors < n->number;
	case SUITE_NEED_MEMORY:
		snprintf(why, len, "%s: this machine has %s", n->text,
			 text_bytes(m->memory_bytes, size, sizeof(size)));
		return m->memory_bytes < n->number;
	}
	return false;
}

/**
 * test_machine_lacks() - whether this machine lacks what a case needs
 * @m: this machine; what is found out of a kernel is kept in it
 * @c: a case of the plan that it was found for
 * @ret_why: set to what it lacks, for people
 * @len: its bytes
 *
 * Return: true when it does.
 * Context: main thread; may read the kernel.
 */
bool test_machine_lacks(struct test_machine *m, const struct suite_case *c, char *ret_why,
			size_t len)
{
	for (size_t i = 0; i < c->test->need_count; i++) {
		if (lacks(m, c, &c->test->needs[i], ret_why, len)) {
			return true;
		}
	}
	return false;
}

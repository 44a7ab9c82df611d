/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See record.h. Any thread, one at a time per record. */
#include "samples/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>

#include "base/io.h"
#include "base/text.h"

static const char *const phase_names[RECORD_PHASE_COUNT] = {
	[RECORD_LOAD] = "load",
	[RECORD_FIRST_RUN] = "first_run",
	[RECORD_KERNEL_MARK] = "kernel_mark",
	[RECORD_USER_MARK] = "user_mark",
	[RECORD_EXIT] = "exit",
};

/**
 * record_json_seed() - begin with JSON: its hash tables get their secret
 *
 * jansson by itself would open /dev/urandom for it, which takes longer, and which a filtered thread
 * must not do.
 *
 * Context: the main thread, before the first json_t; once or again.
 */
void record_json_seed(void)
{
	unsigned int seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
		seed = 0; /* by itself, then */
	}
	json_object_seed(seed);
}

/**
 * record_boot_init() - an empty record: nothing was seen yet
 * @r: the caller's memory; end it with record_boot_fini()
 */
void record_boot_init(struct record_boot *r)
{
	*r = (struct record_boot){
		.backend = "",
		.exec_class = EXEC_TCG,
		.user_mark_ticks = RECORD_NEVER,
		.user_mark_exits = RECORD_NEVER,
		.guest = json_array(),
		.outcome_kind = "",
	};
	for (size_t i = 0; i < RECORD_PHASE_COUNT; i++) {
		r->phase_ns[i] = RECORD_NEVER;
	}
}

/**
 * record_boot_fini() - free what a record holds
 * @r: an initialised record
 */
void record_boot_fini(struct record_boot *r)
{
	free(r->kernel_path);
	free(r->kernel_sha256);
	free(r->kernel_version);
	free(r->append);
	free(r->cpu_asked);
	free(r->exits);
	free(r->windows);
	free(r->outcome_text);
	json_decref(r->vcpus);
	json_decref(r->memory);
	json_decref(r->files);
	json_decref(r->nets);
	json_decref(r->kvm);
	json_decref(r->qemu);
	json_decref(r->kvm_stats);
	json_decref(r->guest);
	json_decref(r->calltime);
	json_decref(r->console_tail);
	json_decref(r->backtrace);
	json_decref(r->registers);
	json_decref(r->host);
	memset(r, 0, sizeof(*r));
}

static json_t *number_or_null(uint64_t v)
{
	return v == RECORD_NEVER ? json_null() : json_integer((json_int_t)v);
}

static json_t *json_or_null(json_t *j)
{
	return j ? json_incref(j) : json_null();
}

/*
 * What /proc/cpuinfo calls the first processor, its microcode (empty where it does not say), and
 * whether it says that we are a guest.
 */
static void read_cpu(char *model, size_t len, char *microcode, size_t microcode_len,
		     bool *ret_hypervisor)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];

	snprintf(model, len, "unknown");
	*microcode = '\0';
	*ret_hypervisor = false;
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		char *colon = strchr(line, ':');

		if (!colon) {
			continue;
		}
		line[strcspn(line, "\n")] = '\0';
		if (text_starts_with(line, "model name") && colon[1]) {
			snprintf(model, len, "%s", colon + 2);
		} else if (text_starts_with(line, "microcode") && colon[1]) {
			snprintf(microcode, microcode_len, "%s", colon + 2);
		} else if (text_starts_with(line, "flags")) {
			*ret_hypervisor = strstr(colon, " hypervisor") != NULL;
		}
	}
}

/**
 * record_text_to_json() - a text of any bytes as a JSON string
 * @s: the text, or NULL
 *
 * A record must not be lost for what a guest wrote, so bytes that are no UTF-8 become '?'.
 *
 * Return: a new reference: a string, or null for NULL; NULL when memory ran out.
 * Context: any thread.
 */
json_t *record_text_to_json(const char *s)
{
	_cleanup_free_ char *copy = s ? strdup(s) : NULL;

	if (!s) {
		return json_null();
	}
	if (!copy) {
		return NULL;
	}
	text_make_utf8(copy);
	return json_string(copy);
}

/* What the host keeps time by, NULL when it does not say: its TSC, unless that is not stable. */
static const char *read_clocksource(char *buf, size_t size)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char *line = f ? fgets(buf, (int)size, f) : NULL;

	if (f) {
		fclose(f);
	}
	if (line) {
		line[strcspn(line, "\n")] = '\0';
	}
	return line;
}

/**
 * record_host_to_json() - which machine this is
 *
 * Return: a new reference: its name in its network, the processor's, its microcode's and the
 * kernel's, what it keeps time by, and whether it is a guest; NULL when memory ran out.
 * Context: any thread; reads /proc.
 */
json_t *record_host_to_json(void)
{
	struct utsname u = {0};
	bool hypervisor;
	char model[128], microcode[32], clocksource[64];

	uname(&u);
	read_cpu(model, sizeof(model), microcode, sizeof(microcode), &hypervisor);
	text_make_utf8(u.nodename);
	return json_pack("{s:s, s:s, s:s?, s:s, s:b, s:s?}", "name", u.nodename, "cpu", model,
			 "microcode", *microcode ? microcode : NULL, "kernel", u.release,
			 "hypervisor", hypervisor, "clocksource",
			 read_clocksource(clocksource, sizeof(clocksource)));
}

/**
 * record_cpu_of_guest() - take the fingerprint that the guest sent instead of the one it was given
 * @r: a record
 *
 * The guest is not trusted: what is no fingerprint is passed over.
 *
 * Return: whether the two differ: KVM does not apply what it was told.
 * Context: any thread.
 */
bool record_cpu_of_guest(struct record_boot *r)
{
	const json_t *line;
	bool differs = false;
	size_t i;

	json_array_foreach (r->guest, i, line) {
		const char *type = json_string_value(json_object_get(line, "type"));
		const char *print =
			json_string_value(json_object_get(json_object_get(line, "facts"), "cpuid"));

		if (!type || strcmp(type, "agent") != 0 || !print ||
		    strlen(print) != RECORD_CPU_PRINT ||
		    strspn(print, "0123456789abcdef") != RECORD_CPU_PRINT) {
			continue;
		}
		differs = *r->cpu_print && strcmp(r->cpu_print, print) != 0;
		memcpy(r->cpu_print, print, RECORD_CPU_PRINT + 1);
		break;
	}
	return differs;
}

static json_t *provenance_to_json(const struct record_boot *r)
{
	uint64_t ticks = exec_class_ticks_per_unit(r->exec_class, r->icount_shift);
	json_t *host = r->host ? json_incref(r->host) : record_host_to_json();
	json_t *p = json_pack(
		"{s:s, s:{s:o, s:s?, s:s?}, s:o, s:{s:o, s:b, s:s?}, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:I, "
		"s:s?}",
		"ringside", RINGSIDE_VERSION, "kernel", "path", record_text_to_json(r->kernel_path),
		"sha256", r->kernel_sha256, "version", r->kernel_version, "append",
		record_text_to_json(r->append), "cpu", "asked", record_text_to_json(r->cpu_asked),
		"pmu", (int)r->cpu_pmu, "fingerprint", *r->cpu_print ? r->cpu_print : NULL, "host",
		host, "vcpus", json_or_null(r->vcpus), "kvm", json_or_null(r->kvm), "qemu",
		json_or_null(r->qemu), "backend", r->backend, "class",
		exec_class_name(r->exec_class), "unit", exec_class_unit(r->exec_class),
		"ticks_per_unit", (json_int_t)ticks, "seccomp", r->seccomp);

	json_object_set_new(p, "memory", json_or_null(r->memory));
	json_object_set_new(p, "clock", r->clock ? json_string(r->clock) : json_null());
	json_object_set_new(p, "files", json_or_null(r->files));
	json_object_set_new(p, "nets", json_or_null(r->nets));
	json_object_set_new(p, "start",
			    json_pack("{s:s?, s:b}", "entry", r->entry, "acpi", (int)r->acpi));
	return p;
}

static json_t *phases_to_json(const struct record_boot *r)
{
	json_t *phases = json_pack("{s:i}", "exec", 0);

	for (size_t i = 0; i < RECORD_PHASE_COUNT; i++) {
		json_object_set_new(phases, phase_names[i], number_or_null(r->phase_ns[i]));
	}
	return phases;
}

static json_t *exits_to_json(const struct record_boot *r)
{
	json_t *by = json_array();

	for (size_t i = 0; i < r->exit_count; i++) {
		const struct record_exit *x = &r->exits[i];

		json_array_append_new(by, json_pack("{s:s, s:s, s:I, s:I}", "reason", x->reason,
						    "detail", x->detail, "count",
						    (json_int_t)x->count, "ns", (json_int_t)x->ns));
	}
	return json_pack("{s:I, s:I, s:o}", "total", (json_int_t)r->exits_total, "user_ns",
			 (json_int_t)r->exits_user_ns, "by", by);
}

static json_t *windows_to_json(const struct record_boot *r)
{
	json_t *windows = json_array();

	for (size_t i = 0; i < r->window_count; i++) {
		const struct record_window *w = &r->windows[i];

		json_array_append_new(windows, json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}",
							 "open_tsc", (json_int_t)w->open_tsc,
							 "exits", (json_int_t)w->exits, "kvm_exits",
							 number_or_null(w->kvm_exits), "irqs",
							 number_or_null(w->irqs), "steal_ns",
							 number_or_null(w->steal_ns), "nivcsw",
							 number_or_null(w->nivcsw)));
	}
	return windows;
}

/**
 * record_boot_to_json() - a record as the object that is written
 * @r: a record
 *
 * Return: a new reference, or NULL when memory ran out.
 * Context: reads /proc when the record does not know the host yet.
 */
json_t *record_boot_to_json(const struct record_boot *r)
{
	json_t *guest_status = r->has_guest_status ? json_integer(r->guest_status) : json_null();
	json_t *marks = json_pack("{s:{s:o, s:o}}", "user", "guest_ticks",
				  number_or_null(r->user_mark_ticks), "exits",
				  number_or_null(r->user_mark_exits));

	json_t *o =
		json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o, s:o,"
			  " s:{s:i, s:s, s:o, s:o}}",
			  "schema_version", RECORD_SCHEMA_VERSION, "type", "boot", "provenance",
			  provenance_to_json(r), "phases_ns", phases_to_json(r), "marks", marks,
			  "exits", exits_to_json(r), "kvm_stats", json_or_null(r->kvm_stats),
			  "windows", windows_to_json(r), "guest", r->guest, "calltime",
			  json_or_null(r->calltime), "console_tail", json_or_null(r->console_tail),
			  "outcome", "status", r->status, "kind", r->outcome_kind, "guest_status",
			  guest_status, "text", record_text_to_json(r->outcome_text));

	if (o && r->backtrace) {
		json_object_set(o, "backtrace", r->backtrace);
	}
	if (o && r->registers) {
		json_object_set(o, "registers", r->registers);
	}
	if (o && r->paused_ns) {
		json_object_set_new(o, "paused_ns", json_integer((json_int_t)r->paused_ns));
	}
	return o;
}

/**
 * record_json_write_line() - write one line of NDJSON with a single write where the kernel allows
 * @fd: an open descriptor
 * @line: an object
 *
 * Return: 0, -ENOMEM, or the errno of write(2), -EPIPE and -ENOSPC among them.
 * Context: may block.
 */
int record_json_write_line(int fd, json_t *line)
{
	_cleanup_free_ char *text = json_dumps(line, JSON_COMPACT);
	size_t len;

	if (!text) {
		return -ENOMEM;
	}
	len = strlen(text);
	text[len] = '\n'; /* where the NUL stood: the line and its end in one piece */
	return io_write_all(fd, text, len + 1);
}

/**
 * record_file_sha256() - the SHA-256 of a file
 * @path: its path
 * @ret_hex: set on success, 64 hexadecimal digits; the caller frees it
 * @e: set on failure, names the file
 *
 * Return: 0, -ENOMEM, or the errno of opening or reading.
 * Context: reads the whole file.
 */
int record_file_sha256(const char *path, char **ret_hex, struct err *e)
{
	char *hex;

	errno = 0;
	hex = SHA256File(path, NULL);
	if (!hex) {
		return err_errno(e, errno ? -errno : -EIO, "%s", path);
	}
	*ret_hex = hex;
	return 0;
}

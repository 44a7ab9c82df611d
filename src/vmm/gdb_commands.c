/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gdb_commands.h. Runs on the owner's thread. */
#include "vmm/gdb_commands.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define SIGNAL_TRAP 5
#define READ_MAX    (GDB_PACKET_MAX / 2)
/* GDB shows the number only. */
#define ERROR_PACKET "E01" /* not understood */
#define ERROR_MEMORY "E0e" /* not mapped, or no RAM */
#define ERROR_TARGET "E05" /* KVM refuses */
#define ERROR_THREAD "E03"
#define ERROR_ROOM   "E1c" /* no more breakpoints of this kind */

/* What is left of a packet. Never read past its end, where a NUL stands. */
struct words {
	const char *p, *end;
};

/**
 * gdb_put() - add text to an answer
 * @t: the answer
 * @fmt: the text
 *
 * What does not fit is left out, and @t->full says so.
 */
void gdb_put(struct gdb_text *t, const char *fmt, ...)
{
	size_t room = sizeof(t->data) - t->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->data + t->len, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room) {
		t->full = true;
		t->data[t->len] = '\0';
		return;
	}
	t->len += (size_t)n;
}

static void put_hex(struct gdb_text *t, const void *data, size_t bytes)
{
	const uint8_t *from = data;

	for (size_t i = 0; i < bytes; i++) {
		gdb_put(t, "%02x", from[i]);
	}
}

static bool take(struct words *w, char c)
{
	if (w->p < w->end && *w->p == c) {
		w->p++;
		return true;
	}
	return false;
}

static bool take_word(struct words *w, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(w->end - w->p) < len || memcmp(w->p, word, len) != 0) {
		return false;
	}
	w->p += len;
	return true;
}

/* 1 to 16 digits. */
static bool take_hex(struct words *w, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned int digits = 0;

	while (w->p < w->end && gdb_hex_digit(*w->p) >= 0 && digits < 17) {
		value = value << 4 | (uint64_t)gdb_hex_digit(*w->p++);
		digits++;
	}
	*ret = value;
	return digits > 0 && digits < 17;
}

static bool take_bytes(struct words *w, uint8_t *buf, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		int high, low;

		if (w->end - w->p < 2) {
			return false;
		}
		high = gdb_hex_digit(w->p[0]);
		low = gdb_hex_digit(w->p[1]);
		if (high < 0 || low < 0) {
			return false;
		}
		buf[i] = (uint8_t)(high << 4 | low);
		w->p += 2;
	}
	return true;
}

#define ANY_THREAD  0u
#define ALL_THREADS UINT32_MAX

/* A thread's id: −1 all, 0 any, else a vCPU's number and one. */
static bool take_thread(struct gdb *g, struct words *w, uint32_t *ret)
{
	uint64_t id;

	if (take_word(w, "-1")) {
		*ret = ALL_THREADS;
		return true;
	}
	if (!take_hex(w, &id) || id > g->ops->vcpus(g->ctx)) {
		return false;
	}
	*ret = (uint32_t)id;
	return true;
}

static void answer(struct gdb_text *out, const char *text)
{
	out->len = 0;
	gdb_put(out, "%s", text);
}

static void ok_or(struct gdb_text *out, bool ok, const char *error)
{
	answer(out, ok ? "OK" : error);
}

/* Registers. */

static void read_all_registers(struct gdb *g, struct gdb_text *out)
{
	struct gdb_regs regs;
	uint8_t buf[GDB_REG_BYTES];

	if (g->ops->get(g->ctx, g->vcpu, &regs) < 0) {
		answer(out, ERROR_TARGET);
		return;
	}
	for (unsigned int i = 0; i < gdb_regs_count(); i++) {
		put_hex(out, buf, gdb_reg_get(&regs, i, buf));
	}
}

static void write_all_registers(struct gdb *g, struct words *w, struct gdb_text *out)
{
	struct gdb_regs regs;
	uint8_t buf[GDB_REG_BYTES];

	if (g->ops->get(g->ctx, g->vcpu, &regs) < 0) {
		answer(out, ERROR_TARGET);
		return;
	}
	for (unsigned int i = 0; i < gdb_regs_count(); i++) {
		if (!take_bytes(w, buf, gdb_reg_bytes(i)) || gdb_reg_set(&regs, i, buf) < 0) {
			answer(out, ERROR_PACKET);
			return;
		}
	}
	ok_or(out, w->p == w->end && g->ops->set(g->ctx, g->vcpu, &regs) == 0, ERROR_TARGET);
}

static void one_register(struct gdb *g, struct words *w, bool write, struct gdb_text *out)
{
	struct gdb_regs regs;
	uint8_t buf[GDB_REG_BYTES];
	uint64_t number;

	if (!take_hex(w, &number) || number >= gdb_regs_count()) {
		answer(out, ERROR_PACKET);
	} else if (g->ops->get(g->ctx, g->vcpu, &regs) < 0) {
		answer(out, ERROR_TARGET);
	} else if (!write) {
		put_hex(out, buf, gdb_reg_get(&regs, (unsigned int)number, buf));
	} else if (!take(w, '=') || !take_bytes(w, buf, gdb_reg_bytes((unsigned int)number)) ||
		   w->p != w->end || gdb_reg_set(&regs, (unsigned int)number, buf) < 0) {
		answer(out, ERROR_PACKET);
	} else {
		ok_or(out, g->ops->set(g->ctx, g->vcpu, &regs) == 0, ERROR_TARGET);
	}
}

/* Memory. */

static bool take_range(struct words *w, uint64_t *ret_at, uint64_t *ret_bytes)
{
	return take_hex(w, ret_at) && take(w, ',') && take_hex(w, ret_bytes);
}

static void read_memory(struct gdb *g, struct words *w, struct gdb_text *out)
{
	uint8_t buf[READ_MAX];
	uint64_t at, bytes;
	size_t n;

	if (!take_range(w, &at, &bytes) || w->p != w->end) {
		answer(out, ERROR_PACKET);
		return;
	}
	n = g->ops->read(g->ctx, g->vcpu, at, buf, bytes < READ_MAX ? bytes : READ_MAX);
	if (n == 0 && bytes > 0) {
		answer(out, ERROR_MEMORY);
		return;
	}
	put_hex(out, buf, n);
}

static void write_memory(struct gdb *g, struct words *w, bool hex, struct gdb_text *out)
{
	uint8_t buf[READ_MAX];
	uint64_t at, bytes;
	const void *from = buf;

	if (!take_range(w, &at, &bytes) || !take(w, ':')) {
		answer(out, ERROR_PACKET);
		return;
	}
	if (hex ? bytes > READ_MAX || !take_bytes(w, buf, bytes) || w->p != w->end
		: bytes != (uint64_t)(w->end - w->p)) {
		answer(out, ERROR_PACKET);
		return;
	}
	if (!hex) {
		from = w->p;
	}
	/* GDB tries with nothing whether this is understood. */
	ok_or(out, bytes == 0 || g->ops->write(g->ctx, g->vcpu, at, from, bytes) == 0,
	      ERROR_MEMORY);
}

static void breakpoint(struct gdb *g, struct words *w, bool on, struct gdb_text *out)
{
	uint64_t type, at, bytes;
	int r;

	if (!take_hex(w, &type) || !take(w, ',') || !take_range(w, &at, &bytes)) {
		answer(out, ERROR_PACKET);
		return;
	}
	/* Conditions behind a ';' are GDB's to judge: none was offered. */
	if (type >= GDB_BREAKS || w->p != w->end) {
		answer(out, type >= GDB_BREAKS ? "" : ERROR_PACKET);
		return;
	}
	r = g->ops->set_break(g->ctx, g->vcpu, (enum gdb_break)type, at, bytes, on);
	if (r == -EOPNOTSUPP) {
		answer(out, ""); /* GDB then knows that there is none of this type */
		return;
	}
	ok_or(out, r == 0, r == -ENOSPC ? ERROR_ROOM : ERROR_MEMORY);
}

/* Going on. */

static enum gdb_verdict resume_all(struct gdb *g, enum gdb_action one, unsigned int vcpu)
{
	for (unsigned int i = 0; i < GDB_VCPUS_MAX; i++) {
		g->action[i] = one == GDB_STEP && i == vcpu ? GDB_STEP : GDB_GO;
	}
	return GDB_RESUME;
}

/* The old way: one action, and maybe where to go on from. */
static enum gdb_verdict old_resume(struct gdb *g, struct words *w, char command,
				   struct gdb_text *out)
{
	bool step = command == 's' || command == 'S';
	uint64_t ignored, at;
	struct gdb_regs regs;

	if ((command == 'S' || command == 'C') && (!take_hex(w, &ignored) || (take(w, ';'), 0))) {
		answer(out, ERROR_PACKET);
		return GDB_ANSWER;
	}
	if (w->p != w->end) {
		if (!take_hex(w, &at) || w->p != w->end ||
		    g->ops->get(g->ctx, g->step_vcpu, &regs) < 0) {
			answer(out, ERROR_PACKET);
			return GDB_ANSWER;
		}
		regs.regs.rip = at;
		if (g->ops->set(g->ctx, g->step_vcpu, &regs) < 0) {
			answer(out, ERROR_TARGET);
			return GDB_ANSWER;
		}
	}
	return resume_all(g, step ? GDB_STEP : GDB_GO, g->step_vcpu);
}

/* "vCont;s:2;c": of those that name a vCPU, the leftmost is its. Signals mean nothing here. */
static enum gdb_verdict v_cont(struct gdb *g, struct words *w, struct gdb_text *out)
{
	bool done[GDB_VCPUS_MAX] = {false}, any = false;

	memset(g->action, 0, sizeof(g->action));
	while (take(w, ';')) {
		enum gdb_action action;
		uint32_t thread = ALL_THREADS;
		uint64_t ignored;
		char c = w->p < w->end ? *w->p++ : '\0';

		if (c != 'c' && c != 'C' && c != 's' && c != 'S') {
			any = false;
			break;
		}
		if (((c == 'C' || c == 'S') && !take_hex(w, &ignored)) ||
		    (take(w, ':') && !take_thread(g, w, &thread))) {
			any = false;
			break;
		}
		action = c == 's' || c == 'S' ? GDB_STEP : GDB_GO;
		for (unsigned int i = 0; i < g->ops->vcpus(g->ctx) && i < GDB_VCPUS_MAX; i++) {
			bool named = thread == ALL_THREADS || thread == i + 1 ||
				     (thread == ANY_THREAD && i == g->vcpu);

			if (named && !done[i]) {
				g->action[i] = action;
				done[i] = any = true;
			}
		}
	}
	if (!any || w->p != w->end) {
		answer(out, ERROR_PACKET);
		return GDB_ANSWER;
	}
	return GDB_RESUME;
}

static enum gdb_verdict v_packet(struct gdb *g, struct words *w, struct gdb_text *out)
{
	if (take_word(w, "Cont?")) {
		answer(out, "vCont;c;C;s;S");
	} else if (take_word(w, "Cont")) {
		return v_cont(g, w, out);
	} else if (take_word(w, "Kill;")) {
		answer(out, "OK");
		return GDB_KILL;
	}
	return GDB_ANSWER; /* empty: not known */
}

/* Questions. */

static void list_threads(struct gdb *g, bool first, struct gdb_text *out)
{
	unsigned int n = g->ops->vcpus(g->ctx);

	if (first) {
		g->listed = 0;
	}
	if (g->listed >= n) {
		answer(out, "l");
		return;
	}
	gdb_put(out, "m");
	for (unsigned int in_this = 0; g->listed < n && in_this < 100; in_this++) {
		gdb_put(out, "%s%x", in_this ? "," : "", ++g->listed);
	}
}

static void describe_thread(struct gdb *g, struct words *w, struct gdb_text *out)
{
	uint32_t thread;
	char text[128];

	if (!take_thread(g, w, &thread) || thread == ANY_THREAD || thread == ALL_THREADS) {
		answer(out, ERROR_THREAD);
		return;
	}
	g->ops->describe(g->ctx, thread - 1, text, sizeof(text));
	put_hex(out, text, strlen(text));
}

/* A part of a text that is longer than a packet may be. */
static void read_part(const char *text, size_t len, struct words *w, struct gdb_text *out)
{
	uint64_t at, bytes;
	size_t n;

	if (!take_range(w, &at, &bytes) || w->p != w->end) {
		answer(out, ERROR_PACKET);
		return;
	}
	n = at < len ? len - at : 0;
	n = n < bytes ? n : (size_t)bytes;
	n = n < READ_MAX ? n : READ_MAX;
	gdb_put(out, "%c%.*s", at + n < len ? 'm' : 'l', (int)n, at < len ? text + at : "");
}

/* Of a process, which may be named and of which there is one. */
static void read_exec_file(struct gdb *g, struct words *w, struct gdb_text *out)
{
	uint64_t process;

	(void)!take_hex(w, &process);
	if (!take(w, ':')) {
		answer(out, ERROR_PACKET);
		return;
	}
	read_part(g->exec_file, strlen(g->exec_file), w, out);
}

static bool contains(const struct words *w, const char *word)
{
	return memmem(w->p, (size_t)(w->end - w->p), word, strlen(word)) != NULL;
}

static void query(struct gdb *g, struct words *w, struct gdb_text *out)
{
	if (take_word(w, "Supported")) {
		g->knows_soft = contains(w, "swbreak+");
		g->knows_hard = contains(w, "hwbreak+");
		gdb_put(out,
			"PacketSize=%x;qXfer:features:read+;vContSupported+;QStartNoAckMode+;"
			"swbreak+;hwbreak+%s",
			GDB_PACKET_MAX, g->exec_file ? ";qXfer:exec-file:read+" : "");
	} else if (take_word(w, "Xfer:features:read:target.xml:")) {
		read_part(g->xml, g->xml_len, w, out);
	} else if (g->exec_file && take_word(w, "Xfer:exec-file:read:")) {
		read_exec_file(g, w, out);
	} else if (take_word(w, "fThreadInfo")) {
		list_threads(g, true, out);
	} else if (take_word(w, "sThreadInfo")) {
		list_threads(g, false, out);
	} else if (take_word(w, "ThreadExtraInfo,")) {
		describe_thread(g, w, out);
	} else if (take_word(w, "C") && w->p == w->end) {
		gdb_put(out, "QC%x", g->vcpu + 1);
	} else if (take_word(w, "Attached")) {
		answer(out, "1");
	} else if (take_word(w, "Symbol::")) {
		answer(out, "OK");
	}
}

static void choose_thread(struct gdb *g, struct words *w, struct gdb_text *out)
{
	bool for_steps = take(w, 'c');
	uint32_t thread;

	if ((!for_steps && !take(w, 'g')) || !take_thread(g, w, &thread) || w->p != w->end) {
		answer(out, ERROR_THREAD);
		return;
	}
	if (thread != ANY_THREAD && thread != ALL_THREADS) {
		*(for_steps ? &g->step_vcpu : &g->vcpu) = thread - 1;
	}
	answer(out, "OK");
}

static void is_alive(struct gdb *g, struct words *w, struct gdb_text *out)
{
	uint32_t thread;

	ok_or(out, take_thread(g, w, &thread) && thread != ANY_THREAD && thread != ALL_THREADS,
	      ERROR_THREAD);
}

/**
 * gdb_init() - begin to talk to a GDB
 * @g: the caller's memory, set
 * @ops: the target
 * @ctx: first argument of those
 */
void gdb_init(struct gdb *g, const struct gdb_target_ops *ops, void *ctx)
{
	memset(g, 0, sizeof(*g));
	g->ops = ops;
	g->ctx = ctx;
	g->stop = (struct gdb_stop){.kind = GDB_STOP_SIGNAL, .signal = SIGNAL_TRAP};
	g->xml_len = gdb_regs_xml(g->xml);
}

/**
 * gdb_tell_stop() - say why the target stands
 * @g: the conversation
 * @stop: why; kept for "?"
 * @out: gets the answer
 */
void gdb_tell_stop(struct gdb *g, const struct gdb_stop *stop, struct gdb_text *out)
{
	static const char *const watches[] = {[GDB_STOP_WRITE] = "watch",
					      [GDB_STOP_READ] = "rwatch",
					      [GDB_STOP_ACCESS] = "awatch"};

	g->stop = *stop;
	g->vcpu = g->step_vcpu = stop->vcpu;
	out->len = 0;
	gdb_put(out, "T%02xthread:%x;", (unsigned int)stop->signal, stop->vcpu + 1);
	if (stop->kind == GDB_STOP_SOFT && g->knows_soft) {
		gdb_put(out, "swbreak:;");
	} else if (stop->kind == GDB_STOP_HARD && g->knows_hard) {
		gdb_put(out, "hwbreak:;");
	} else if (stop->kind >= GDB_STOP_WRITE) {
		gdb_put(out, "%s:%llx;", watches[stop->kind], (unsigned long long)stop->address);
	}
}

/**
 * gdb_command() - do what a packet asks for
 * @g: the conversation
 * @packet: @len bytes, any, and a NUL behind them
 * @len: at most GDB_PACKET_MAX
 * @out: gets the answer; empty is one, too: "not known"
 *
 * Return: what is to be done besides.
 */
enum gdb_verdict gdb_command(struct gdb *g, const char *packet, size_t len, struct gdb_text *out)
{
	struct words w = {.p = packet, .end = packet + len};
	char c = len > 0 ? *w.p++ : '\0';
	struct gdb_stop stop = g->stop;

	out->len = 0;
	out->full = false;
	out->data[0] = '\0';
	switch (c) {
	case '?':
		gdb_tell_stop(g, &stop, out);
		break;
	case 'g':
		read_all_registers(g, out);
		break;
	case 'G':
		write_all_registers(g, &w, out);
		break;
	case 'p':
	case 'P':
		one_register(g, &w, c == 'P', out);
		break;
	case 'm':
		read_memory(g, &w, out);
		break;
	case 'M':
	case 'X':
		write_memory(g, &w, c == 'M', out);
		break;
	case 'Z':
	case 'z':
		breakpoint(g, &w, c == 'Z', out);
		break;
	case 'c':
	case 'C':
	case 's':
	case 'S':
		return old_resume(g, &w, c, out);
	case 'v':
		return v_packet(g, &w, out);
	case 'q':
		query(g, &w, out);
		break;
	case 'Q':
		if (take_word(&w, "StartNoAckMode")) {
			answer(out, "OK");
			return GDB_NO_ACKS;
		}
		break;
	case 'H':
		choose_thread(g, &w, out);
		break;
	case 'T':
		is_alive(g, &w, out);
		break;
	case 'D':
		answer(out, "OK");
		return GDB_DETACH;
	case 'k':
		return GDB_KILL;
	default:
		break;
	}
	return GDB_ANSWER;
}

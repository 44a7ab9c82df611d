/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "vmm/gdb_commands.h"

#define VCPUS     3
#define MEMORY_AT UINT64_C(0xffffffff81000000)

static struct {
	struct gdb_regs regs[VCPUS];
	uint8_t memory[4096];
	unsigned int breaks[GDB_BREAKS];
	int break_result;
	unsigned int writes;
} fake;

static struct gdb gdb;
static struct gdb_text out;

static unsigned int vcpus(void *ctx)
{
	return VCPUS;
}

static int get(void *ctx, unsigned int vcpu, struct gdb_regs *ret)
{
	assert_true(vcpu < VCPUS);
	*ret = fake.regs[vcpu];
	return 0;
}

static int set(void *ctx, unsigned int vcpu, const struct gdb_regs *regs)
{
	assert_true(vcpu < VCPUS);
	fake.regs[vcpu] = *regs;
	return 0;
}

static size_t read_memory(void *ctx, unsigned int vcpu, uint64_t gva, void *buf, size_t bytes)
{
	uint64_t at = gva - MEMORY_AT;

	assert_true(vcpu < VCPUS);
	if (at >= sizeof(fake.memory)) {
		return 0;
	}
	bytes = bytes < sizeof(fake.memory) - at ? bytes : sizeof(fake.memory) - at;
	memcpy(buf, fake.memory + at, bytes);
	return bytes;
}

static int write_memory(void *ctx, unsigned int vcpu, uint64_t gva, const void *buf, size_t bytes)
{
	uint64_t at = gva - MEMORY_AT;

	fake.writes++;
	if (at >= sizeof(fake.memory) || bytes > sizeof(fake.memory) - at) {
		return -EFAULT;
	}
	memcpy(fake.memory + at, buf, bytes);
	return 0;
}

static int set_break(void *ctx, unsigned int vcpu, enum gdb_break type, uint64_t gva,
		     uint64_t bytes, bool on)
{
	assert_true(type < GDB_BREAKS);
	if (fake.break_result == 0) {
		fake.breaks[type] += on ? 1 : -1U;
	}
	return fake.break_result;
}

static void describe(void *ctx, unsigned int vcpu, char *buf, size_t size)
{
	assert_true(vcpu < VCPUS);
	snprintf(buf, size, "vCPU %u", vcpu);
}

static const struct gdb_target_ops ops = {
	.vcpus = vcpus,
	.get = get,
	.set = set,
	.read = read_memory,
	.write = write_memory,
	.set_break = set_break,
	.describe = describe,
};

static int setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	for (unsigned int i = 0; i < VCPUS; i++) {
		fake.regs[i].regs.rip = MEMORY_AT + i;
		fake.regs[i].regs.rax = 0x1122334455667788;
		fake.regs[i].regs.rflags = 0x246;
		fake.regs[i].sregs.cs.selector = 0x10;
		fake.regs[i].sregs.cr3 = 0x9000;
		fake.regs[i].fpu.ftwx = 0x80;
		fake.regs[i].fpu.mxcsr = 0x1f80;
	}
	memcpy(fake.memory, "\x01\x02\x03\x04", 4);
	gdb_init(&gdb, &ops, NULL);
	return 0;
}

static enum gdb_verdict command(const char *packet)
{
	return gdb_command(&gdb, packet, strlen(packet), &out);
}

static void says(const char *packet, const char *text)
{
	assert_int_equal(command(packet), GDB_ANSWER);
	assert_string_equal(out.data, text);
	assert_false(out.full);
}

static void all_registers_have_the_places_that_the_description_gives_them(void **state)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < gdb_regs_count(); i++) {
		bytes += gdb_reg_bytes(i);
	}
	assert_int_equal(bytes, GDB_REGS_BYTES);
	command("g");
	assert_int_equal(out.len, 2 * GDB_REGS_BYTES);
	assert_memory_equal(out.data, "8877665544332211", 16);
	assert_memory_equal(out.data + 2 * 16 * 8, "00000081ffffffff", 16);
	assert_memory_equal(out.data + 2 * 17 * 8, "4602000010000000", 16);
	/* CR3 where QEMU's stub has it: tests/guest/gdbstub.py. */
	assert_memory_equal(out.data + 2 * (17 * 8 + 7 * 4 + 3 * 8 + 2 * 8), "0090000000000000",
			    16);
	says("p10", "00000081ffffffff");
	says("p11", "46020000");
	/* Seven of eight are empty: 11 each. */
	says("p2b", "ff3f0000");
	says("p41", "801f0000");
	says("p42", "E01");
	says("p", "E01");
}

static void the_description_is_whole_and_names_each_register(void **state)
{
	static char xml[GDB_XML_MAX];
	char ask[64];
	size_t len = 0;

	do {
		snprintf(ask, sizeof(ask), "qXfer:features:read:target.xml:%zx,3f0", len);
		command(ask);
		assert_true(len + out.len < sizeof(xml));
		memcpy(xml + len, out.data + 1, out.len - 1);
		len += out.len - 1;
	} while (out.data[0] == 'm');
	assert_int_equal(out.data[0], 'l');
	xml[len] = '\0';
	assert_true(len < GDB_XML_MAX - 1);
	assert_string_equal(xml + len - strlen("</feature></target>"), "</feature></target>");
	assert_non_null(
		strstr(xml, "<reg name=\"rip\" bitsize=\"64\" type=\"code_ptr\" regnum=\"16\"/>"));
	assert_non_null(
		strstr(xml, "<reg name=\"mxcsr\" bitsize=\"32\" type=\"int\" regnum=\"65\"/>"));
	assert_non_null(strstr(xml, "org.gnu.gdb.i386.sse"));
	says("qXfer:features:read:target.xml:ffffffff,3f0", "l");
	says("qXfer:features:read:other.xml:0,3f0", "");
}

static void the_program_that_runs_is_told_when_it_is_known(void **state)
{
	command("qSupported:swbreak+");
	assert_null(strstr(out.data, "exec-file"));
	says("qXfer:exec-file:read::0,100", "");
	gdb.exec_file = "/a/vmlinux";
	command("qSupported:swbreak+");
	assert_non_null(strstr(out.data, ";qXfer:exec-file:read+"));
	says("qXfer:exec-file:read::0,100", "l/a/vmlinux");
	says("qXfer:exec-file:read:1:0,100", "l/a/vmlinux");
	says("qXfer:exec-file:read:1:0,3", "m/a/");
	says("qXfer:exec-file:read:1:3,100", "lvmlinux");
	says("qXfer:exec-file:read:1:a,100", "l");
	says("qXfer:exec-file:read:1:ffffffffffffffff,ffffffffffffffff", "l");
	says("qXfer:exec-file:read:1", "E01");
	says("qXfer:exec-file:read:x:0,100", "E01");
}

static void registers_can_be_changed_one_by_one_and_all_at_once(void **state)
{
	char all[2 * GDB_REGS_BYTES + 2] = "G";

	says("P0=0100000000000000", "OK");
	assert_int_equal(fake.regs[0].regs.rax, 1);
	says("P12=10000000", "OK");
	says("P12=18000000", "E01");
	says("P0=01", "E01");
	says("P0=010000000000000000", "E01");
	command("g");
	memcpy(all + 1, out.data, out.len);
	memcpy(all + 1, "ff", 2);
	says(all, "OK");
	assert_int_equal(fake.regs[0].regs.rax, 0xff);
	all[sizeof(all) - 3] = '\0';
	says(all, "E01");
}

static void memory_is_read_as_far_as_there_is_any(void **state)
{
	says("mffffffff81000000,4", "01020304");
	says("mffffffff81000fff,10", "00");
	says("mffffffff80000000,4", "E0e");
	says("mffffffff81000000", "E01");
	says("m,4", "E01");
	says("m11111111111111111,4", "E01");
	command("mffffffff81000000,ffffffffffffffff");
	assert_int_equal(out.len, GDB_PACKET_MAX);
	assert_false(out.full);
}

static void memory_is_written_in_digits_and_in_bytes(void **state)
{
	static const char bytes[] = "Xffffffff81000000,3:\0#$";

	says("Mffffffff81000000,2:aabb", "OK");
	assert_memory_equal(fake.memory, "\xaa\xbb\x03", 3);
	assert_int_equal(gdb_command(&gdb, bytes, sizeof(bytes) - 1, &out), GDB_ANSWER);
	assert_string_equal(out.data, "OK");
	assert_memory_equal(fake.memory, "\0#$\x04", 4);
	fake.writes = 0;
	says("Xffffffff81000000,0:", "OK");
	says("Mffffffff81000000,2:aa", "E01");
	says("Mffffffff81000000,2:aabbcc", "E01");
	says("Xffffffff81000000,5:ab", "E01");
	says("Mffffffff81000000,ffffffffffffffff:aa", "E01");
	assert_int_equal(fake.writes, 0);
	says("Mffffffff80000000,1:aa", "E0e");
}

static void threads_are_vcpus(void **state)
{
	says("qfThreadInfo", "m1,2,3");
	says("qsThreadInfo", "l");
	says("qC", "QC1");
	says("Hg2", "OK");
	says("qC", "QC2");
	says("p10", "01000081ffffffff");
	says("T3", "OK");
	says("T4", "E03");
	says("Hg4", "E03");
	says("Hg-1", "OK");
	says("Hc0", "OK");
	says("qThreadExtraInfo,3", "764350552032");
	says("qThreadExtraInfo,0", "E03");
}

static void actions_are(enum gdb_action a, enum gdb_action b, enum gdb_action c)
{
	assert_int_equal(gdb.action[0], a);
	assert_int_equal(gdb.action[1], b);
	assert_int_equal(gdb.action[2], c);
}

static void the_leftmost_action_that_names_a_vcpu_is_its(void **state)
{
	says("vCont?", "vCont;c;C;s;S");
	assert_int_equal(command("vCont;c"), GDB_RESUME);
	actions_are(GDB_GO, GDB_GO, GDB_GO);
	assert_int_equal(command("vCont;s:2;c"), GDB_RESUME);
	actions_are(GDB_GO, GDB_STEP, GDB_GO);
	assert_int_equal(command("vCont;s:3"), GDB_RESUME);
	actions_are(GDB_STAY, GDB_STAY, GDB_STEP);
	assert_int_equal(command("vCont;C05:1;S05:-1"), GDB_RESUME);
	actions_are(GDB_GO, GDB_STEP, GDB_STEP);
	assert_int_equal(command("c"), GDB_RESUME);
	actions_are(GDB_GO, GDB_GO, GDB_GO);
	says("Hc2", "OK");
	assert_int_equal(command("s"), GDB_RESUME);
	actions_are(GDB_GO, GDB_STEP, GDB_GO);
	assert_int_equal(command("s1234"), GDB_RESUME);
	assert_int_equal(fake.regs[1].regs.rip, 0x1234);
	for (size_t i = 0; i < 7; i++) {
		static const char *const bad[] = {"vCont;",    "vCont;x",   "vCont;s:4", "vCont;c:",
						  "vCont;C:1", "vCont;c;x", "vContc"};

		says(bad[i], "E01");
	}
}

static void breakpoints_of_each_kind_reach_the_target(void **state)
{
	says("Z0,ffffffff81000000,1", "OK");
	says("Z1,ffffffff81000000,1", "OK");
	says("Z2,ffffffff81000000,8", "OK");
	assert_int_equal(fake.breaks[GDB_BREAK_SOFT], 1);
	assert_int_equal(fake.breaks[GDB_WATCH_WRITE], 1);
	says("z0,ffffffff81000000,1", "OK");
	assert_int_equal(fake.breaks[GDB_BREAK_SOFT], 0);
	says("Z5,0,1", "");
	says("Z0,0", "E01");
	says("Z0,0,1;X1,22", "E01");
	fake.break_result = -EOPNOTSUPP;
	says("Z3,0,1", "");
	fake.break_result = -ENOSPC;
	says("Z1,0,1", "E1c");
	fake.break_result = -EFAULT;
	says("Z0,0,1", "E0e");
}

static void a_stop_names_the_vcpu_and_the_reason_that_gdb_understands(void **state)
{
	gdb_tell_stop(&gdb, &(struct gdb_stop){.kind = GDB_STOP_SOFT, .signal = 5, .vcpu = 2},
		      &out);
	assert_string_equal(out.data, "T05thread:3;");
	command("qSupported:multiprocess+;swbreak+;hwbreak+");
	assert_non_null(strstr(out.data, "PacketSize=1000;"));
	says("?", "T05thread:3;swbreak:;");
	says("qC", "QC3");
	gdb_tell_stop(&gdb, &(struct gdb_stop){.kind = GDB_STOP_HARD, .signal = 5}, &out);
	assert_string_equal(out.data, "T05thread:1;hwbreak:;");
	gdb_tell_stop(&gdb,
		      &(struct gdb_stop){.kind = GDB_STOP_WRITE, .signal = 5, .address = 0xabc},
		      &out);
	assert_string_equal(out.data, "T05thread:1;watch:abc;");
	gdb_tell_stop(&gdb, &(struct gdb_stop){.kind = GDB_STOP_SIGNAL, .signal = 2}, &out);
	assert_string_equal(out.data, "T02thread:1;");
}

static void ends_of_the_conversation_are_told_apart(void **state)
{
	assert_int_equal(command("D"), GDB_DETACH);
	assert_string_equal(out.data, "OK");
	assert_int_equal(command("k"), GDB_KILL);
	assert_string_equal(out.data, "");
	assert_int_equal(command("vKill;1"), GDB_KILL);
	assert_string_equal(out.data, "OK");
	assert_int_equal(command("QStartNoAckMode"), GDB_NO_ACKS);
	says("qAttached", "1");
	says("qSymbol::", "OK");
	says("vMustReplyEmpty", "");
	says("qTStatus", "");
	says("", "");
	says("!", "");
}

/* Commands cut short, run together, with bytes changed: an answer always fits, and no call of the
 * target is made that could not be. */
static void hostile_packets_are_answered_within_bounds(void **state)
{
	static const char *const seeds[] = {"g",
					    "G00",
					    "p10",
					    "P0=0100000000000000",
					    "mffffffff81000000,40",
					    "Mffffffff81000000,2:aabb",
					    "Xffffffff81000000,3:abc",
					    "Z0,ffffffff81000000,1",
					    "z2,0,8",
					    "vCont;s:2;c:-1;C05:1",
					    "vCont?",
					    "vKill;1",
					    "qfThreadInfo",
					    "qsThreadInfo",
					    "qThreadExtraInfo,2",
					    "qXfer:features:read:target.xml:0,fff",
					    "qSupported:swbreak+;hwbreak+",
					    "Hg2",
					    "Hc-1",
					    "T1",
					    "s1234",
					    "C05;1234",
					    "?",
					    "D"};
	struct rng rng;
	unsigned int answers = 0;

	rng_init(&rng, 3);
	for (int i = 0; i < 300000; i++) {
		/* On the heap and of its exact size, so that a byte too far is seen. */
		const char *seed = seeds[rng_below(&rng, ARRAY_SIZE(seeds))];
		const char *more = seeds[rng_below(&rng, ARRAY_SIZE(seeds))];
		size_t len = strlen(seed), tail = rng_below(&rng, 4) ? 0 : strlen(more);
		char *packet = malloc(len + tail + 1);

		memcpy(packet, seed, len);
		memcpy(packet + len, more, tail);
		len += tail;
		if (rng_below(&rng, 3) == 0) {
			len = rng_below(&rng, len + 1);
		}
		for (uint64_t n = rng_below(&rng, 4); n > 0 && len > 0; n--) {
			packet[rng_below(&rng, len)] = (char)rng_next(&rng);
		}
		packet[len] = '\0';
		(void)gdb_command(&gdb, packet, len, &out);
		assert_true(out.len <= GDB_PACKET_MAX && out.data[out.len] == '\0');
		assert_false(out.full);
		assert_true(gdb.vcpu < VCPUS && gdb.step_vcpu < VCPUS);
		answers += out.len > 0;
		free(packet);
	}
	assert_true(answers > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			all_registers_have_the_places_that_the_description_gives_them, setup),
		cmocka_unit_test_setup(the_description_is_whole_and_names_each_register, setup),
		cmocka_unit_test_setup(the_program_that_runs_is_told_when_it_is_known, setup),
		cmocka_unit_test_setup(registers_can_be_changed_one_by_one_and_all_at_once, setup),
		cmocka_unit_test_setup(memory_is_read_as_far_as_there_is_any, setup),
		cmocka_unit_test_setup(memory_is_written_in_digits_and_in_bytes, setup),
		cmocka_unit_test_setup(threads_are_vcpus, setup),
		cmocka_unit_test_setup(the_leftmost_action_that_names_a_vcpu_is_its, setup),
		cmocka_unit_test_setup(breakpoints_of_each_kind_reach_the_target, setup),
		cmocka_unit_test_setup(a_stop_names_the_vcpu_and_the_reason_that_gdb_understands,
				       setup),
		cmocka_unit_test_setup(ends_of_the_conversation_are_told_apart, setup),
		cmocka_unit_test_setup(hostile_packets_are_answered_within_bounds, setup),
	};

	return cmocka_run_group_tests_name("vmm_gdb_commands", tests, NULL, NULL);
}

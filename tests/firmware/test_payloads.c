/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every payload, in ring 3 and in ring 0, in the small VM of src/vmm/payload.c with plain recorders
 * for devices: what a payload does is checked here, so that other tests may rely on it.
 *
 * usage: test_firmware_payloads FOLDER-OF-PAYLOADS
 */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "abi/calibrate.h"
#include "abi/marks.h"
#include "base/clock.h"
#include "vmm/calibrate.h"
#include "vmm/payload.h"
#include "vmm/probe.h"

#define TIMEOUT_NS   (20 * NS_PER_SEC)
#define COM1         0x3f8
#define COM1_BYTES   8
#define LSR          5
#define LSR_IDLE     0x60
#define LSR_RECEIVED 0x01
#define OUTPUT_MAX   4096
#define MARKS_MAX    16
/* Of what is timed on a machine that has other things to do: the least of so many is its own. */
#define SAMPLES 15

static const char *folder;

struct com1 {
	struct device dev;
	char out[OUTPUT_MAX];
	size_t out_len;
	const char *in; /* what is still to be received */
	size_t in_len;
};

struct recorder {
	struct device dev;
	uint8_t codes[MARKS_MAX];
	unsigned int count;
};

static uint64_t com1_read(struct device *d, uint64_t offset, unsigned int size)
{
	struct com1 *c = (struct com1 *)d;

	if (offset == LSR) {
		return LSR_IDLE | (c->in_len ? LSR_RECEIVED : 0);
	}
	if (offset == 0 && c->in_len) {
		c->in_len--;
		return (uint8_t)*c->in++;
	}
	return 0;
}

static void com1_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct com1 *c = (struct com1 *)d;

	if (offset == 0 && c->out_len < OUTPUT_MAX - 1) {
		c->out[c->out_len++] = (char)value;
	}
}

static const struct device_ops com1_ops = {
	.name = "com1",
	.max_size = 1,
	.read = com1_read,
	.write = com1_write,
};

static uint64_t recorder_read(struct device *d, uint64_t offset, unsigned int size)
{
	return 0;
}

static void recorder_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	struct recorder *r = (struct recorder *)d;

	if (r->count < MARKS_MAX) {
		r->codes[r->count++] = (uint8_t)value;
	}
}

static const struct device_ops recorder_ops = {
	.name = "recorder",
	.max_size = 1,
	.read = recorder_read,
	.write = recorder_write,
};

struct bench {
	struct payload_vm *vm;
	struct com1 com1;
	struct payload_outcome out;
};

static void bench_open(struct bench *b, const char *name, unsigned int ring)
{
	struct err e = ERR_INIT;
	char path[512];

	memset(b, 0, sizeof(*b));
	snprintf(path, sizeof(path), "%s/%s.elf", folder, name);
	if (payload_vm_create(&kvm_ops_real, path, ring, &b->vm, &e) < 0) {
		fail_msg("%s", e.text);
	}
	b->com1.dev.ops = &com1_ops;
	assert_int_equal(bus_add(payload_vm_ports(b->vm), COM1, COM1_BYTES, &b->com1.dev, 0), 0);
}

static void bench_run(struct bench *b)
{
	struct err e = ERR_INIT;

	if (payload_vm_run(b->vm, TIMEOUT_NS, &b->out, &e) < 0) {
		fail_msg("%s", e.text);
	}
	if (b->out.end != PAYLOAD_END_EXIT) {
		fail_msg("%s; output: %s", b->out.text, b->com1.out);
	}
}

static void bench_close(struct bench *b)
{
	payload_vm_destroy(b->vm);
}

static unsigned int ring_of(void **state)
{
	return *(const unsigned int *)*state;
}

static void exit_hands_its_argument_to_the_exit_port(void **state)
{
	struct bench b;

	bench_open(&b, "exit", ring_of(state));
	assert_int_equal(payload_vm_set_arg(b.vm, 0, 0x12345678), 0);
	bench_run(&b);
	assert_int_equal(b.out.status, 0x12345678);
	assert_int_equal(b.out.user_exits, 1);
	assert_int_equal(b.out.block.state, PAYLOAD_DONE);
	assert_int_equal(b.out.block.status, 0x12345678);
	bench_close(&b);
}

static void ring_timing_times_longer_loops_as_longer(void **state)
{
	struct bench b;
	uint64_t least[RING_TIMING_LENGTHS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

	bench_open(&b, "ring_timing", ring_of(state));
	assert_int_equal(payload_vm_set_arg(b.vm, 0, 600), 0);
	assert_int_equal(payload_vm_set_arg(b.vm, 1, SAMPLES), 0);
	bench_run(&b);
	assert_int_equal(b.out.status, 0);
	assert_int_equal(b.out.block.ring, ring_of(state));
	assert_int_equal(b.out.block.value_count, SAMPLES * RING_TIMING_LENGTHS);
	for (unsigned int i = 0; i < SAMPLES * RING_TIMING_LENGTHS; i++) {
		uint64_t *l = &least[i % RING_TIMING_LENGTHS];

		*l = b.out.block.values[i] < *l ? b.out.block.values[i] : *l;
	}
	assert_true(least[0] < least[1]);
	assert_true(least[1] < least[2]);
	bench_close(&b);
}

static void ring_timing_cuts_the_samples_to_its_page(void **state)
{
	struct bench b;

	bench_open(&b, "ring_timing", ring_of(state));
	assert_int_equal(payload_vm_set_arg(b.vm, 0, 2), 0);
	assert_int_equal(payload_vm_set_arg(b.vm, 1, RING_TIMING_SAMPLES_MAX + 1), 0);
	bench_run(&b);
	assert_int_equal(b.out.block.value_count, RING_TIMING_SAMPLES_MAX * RING_TIMING_LENGTHS);
	bench_close(&b);
}

#define SELFTEST_HEAD                      \
	"PASS: string: copies are equal\n" \
	"PASS: string: differences are seen\n"
#define SELFTEST_TAIL                                              \
	"PASS: numbers: -7 42 beef 00012 123456789abcdef0 str %\n" \
	"FAIL: this one fails on purpose\n"                        \
	"SKIP: this one is skipped on purpose\n"

static void report_selftest_says_what_it_must_and_counts_its_failure(void **state)
{
	static const char in_ring3[] =
		SELFTEST_HEAD "SKIP: trap: no exceptions in ring 3\n"
			      "SKIP: trap: no exceptions in ring 3\n"
			      "SKIP: trap: no exceptions in ring 3\n" SELFTEST_TAIL
			      "SUMMARY: 3 passed, 1 failed, 4 skipped\n";
	static const char in_ring0[] =
		SELFTEST_HEAD "PASS: trap: none where there is none\n"
			      "PASS: trap: invalid opcode\n"
			      "PASS: trap: page fault on what is not present\n" SELFTEST_TAIL
			      "SUMMARY: 6 passed, 1 failed, 1 skipped\n";
	struct bench b;

	bench_open(&b, "report_selftest", ring_of(state));
	bench_run(&b);
	assert_string_equal(b.com1.out, ring_of(state) == 3 ? in_ring3 : in_ring0);
	assert_int_equal(b.out.status, 1);
	bench_close(&b);
}

static void run_mark(unsigned int ring, uint64_t arg, struct recorder *port, struct recorder *timer,
		     struct payload_outcome *ret)
{
	struct bench b;

	port->dev.ops = &recorder_ops;
	timer->dev.ops = &recorder_ops;
	bench_open(&b, "mark", ring);
	assert_int_equal(payload_vm_set_arg(b.vm, 0, arg), 0);
	assert_int_equal(bus_add(payload_vm_ports(b.vm), MARK_PORT, 1, &port->dev, 0), 0);
	assert_int_equal(bus_add(payload_vm_mmio(b.vm), BOOT_TIMER_GPA, 1, &timer->dev, 0), 0);
	bench_run(&b);
	*ret = b.out;
	bench_close(&b);
}

static void mark_sends_every_kind_in_the_order_of_a_boot(void **state)
{
	static const uint8_t codes[] = {MARK_KERNEL_START, MARK_USER_START,   MARK_WINDOW_OPEN,
					MARK_WINDOW_CLOSE, MARK_CUSTOM_FIRST, 0xff};
	struct recorder port = {0}, timer = {0};
	struct payload_outcome out;

	run_mark(ring_of(state), 0, &port, &timer, &out);
	assert_int_equal(port.count, sizeof(codes));
	assert_memory_equal(port.codes, codes, sizeof(codes));
	assert_int_equal(timer.count, 1);
	assert_int_equal(timer.codes[0], BOOT_TIMER_VALUE);
	assert_int_equal(out.block.value_count, sizeof(codes));
	for (unsigned int i = 1; i < sizeof(codes); i++) {
		assert_true(out.block.values[i] > out.block.values[i - 1]);
	}
}

static void mark_can_leave_the_user_start_to_the_boot_timer(void **state)
{
	struct recorder port = {0}, timer = {0};
	struct payload_outcome out;

	run_mark(ring_of(state), 1, &port, &timer, &out);
	assert_int_equal(port.count, 5);
	assert_null(memchr(port.codes, MARK_USER_START, port.count));
	assert_int_equal(timer.count, 1);
}

static void echo_sends_back_what_it_receives_until_eot(void **state)
{
	static const char in[] = "a\r\n\x01\xff\x04never read";
	struct bench b;

	bench_open(&b, "echo", ring_of(state));
	b.com1.in = in;
	b.com1.in_len = sizeof(in) - 1;
	bench_run(&b);
	assert_string_equal(b.com1.out, "ready\na\r\n\x01\xff");
	assert_int_equal(b.out.block.values[0], 5);
	assert_int_equal(b.com1.in_len, strlen("never read"));
	bench_close(&b);
}

static void unclaimed_finds_all_ones_everywhere(void **state)
{
	struct bench b;

	bench_open(&b, "unclaimed", ring_of(state));
	bench_run(&b);
	if (b.out.status != 0) {
		fail_msg("%s", b.com1.out);
	}
	assert_non_null(strstr(b.com1.out, "SUMMARY: 18 passed, 0 failed, 0 skipped\n"));
	assert_int_equal(bus_unclaimed(payload_vm_ports(b.vm)), 18);
	assert_true(bus_unclaimed(payload_vm_mmio(b.vm)) >= 7);
	bench_close(&b);
}

static void unclaimed_fails_where_a_device_answers(void **state)
{
	struct recorder zero = {.dev.ops = &recorder_ops};
	struct bench b;

	bench_open(&b, "unclaimed", ring_of(state));
	assert_int_equal(bus_add(payload_vm_ports(b.vm), 0x5658, 4, &zero.dev, 0), 0);
	bench_run(&b);
	assert_int_equal(b.out.status, 4);
	assert_non_null(strstr(b.com1.out, "FAIL: port: 0x5658 read by 1\n"));
	bench_close(&b);
}

/* Counts what is written to it. */
struct counter {
	struct device dev;
	unsigned int count;
};

static void counter_write(struct device *d, uint64_t offset, unsigned int size, uint64_t value)
{
	((struct counter *)d)->count++;
}

static const struct device_ops counter_ops = {
	.name = "counter",
	.max_size = 4,
	.read = recorder_read,
	.write = counter_write,
};

static void calibrate_runs_each_loop_once_for_warmth_and_once_in_each_batch(void **state)
{
	struct recorder marks = {.dev.ops = &recorder_ops};
	struct counter port = {.dev.ops = &counter_ops}, mmio = {.dev.ops = &counter_ops};
	const enum calibrate_primitive which[] = {CALIBRATE_EXIT_PORT, CALIBRATE_EXIT_MMIO};

	for (unsigned int i = 0; i < 2; i++) {
		struct bench b;

		bench_open(&b, "calibrate", 3);
		marks.count = 0;
		assert_int_equal(payload_vm_set_arg(b.vm, 0, which[i] + 1u), 0);
		assert_int_equal(payload_vm_set_arg(b.vm, 1, 2), 0);
		assert_int_equal(payload_vm_set_arg(b.vm, 2, 3), 0);
		assert_int_equal(bus_add(payload_vm_ports(b.vm), MARK_PORT, 1, &marks.dev, 0), 0);
		assert_int_equal(bus_add(payload_vm_ports(b.vm), CALIBRATE_PORT, 4, &port.dev, 0),
				 0);
		assert_int_equal(bus_add(payload_vm_mmio(b.vm), CALIBRATE_GPA, 4, &mmio.dev, 0), 0);
		bench_run(&b);
		assert_int_equal(b.out.status, CALIBRATE_OK);
		assert_int_equal(b.out.block.value_count, 2 * CALIBRATE_VALUES);
		assert_int_equal(marks.count, 4);
		assert_int_equal(marks.codes[0], MARK_WINDOW_OPEN);
		assert_int_equal(marks.codes[1], MARK_WINDOW_CLOSE);
		assert_int_equal(marks.codes[3], MARK_WINDOW_CLOSE);
		bench_close(&b);
	}
	assert_int_equal(port.count, 2 * 2 * 3);
	assert_int_equal(mmio.count, 2 * 2 * 3);
}

static void calibrate_refuses_what_the_table_does_not_have_or_has_in_the_other_ring(void **state)
{
	const unsigned int ring = ring_of(state);
	const uint64_t cases[][2] = {
		{0, 1},
		{CALIBRATE_PRIMITIVE_COUNT + 1, 1},
		{(ring == 3 ? CALIBRATE_SWAPGS : CALIBRATE_LFENCE) + 1, 1},
		{(ring == 3 ? CALIBRATE_LFENCE : CALIBRATE_SWAPGS) + 1, CALIBRATE_BATCHES_MAX + 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		bench_open(&b, "calibrate", ring);
		assert_int_equal(payload_vm_set_arg(b.vm, 0, cases[i][0]), 0);
		assert_int_equal(payload_vm_set_arg(b.vm, 1, cases[i][1]), 0);
		bench_run(&b);
		assert_int_equal(b.out.status, CALIBRATE_BAD_ARGUMENT);
		assert_int_equal(b.out.block.value_count, 0);
		bench_close(&b);
	}
}

/* Where ring 0 is interpreted its instructions are not all there, and take for ever. */
static bool ring0_is_interpreted(void)
{
	struct probe_rings r;
	char path[512];

	snprintf(path, sizeof(path), "%s/ring_timing.elf", folder);
	probe_ring_timing(NULL, path, &r);
	return r.ring0.error || r.ring0.loop_ticks / 20 > r.ring3.loop_ticks;
}

static uint64_t least_of(const struct calibrate_result *r, unsigned int which)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int k = 0; k < r->batches; k++) {
		least = r->ticks[k][which] < least ? r->ticks[k][which] : least;
	}
	return least;
}

static void calibrate_times_every_primitive_of_its_ring(void **state)
{
	static const struct {
		const char *name;
		unsigned int ring;
		uint64_t operations;
	} all[] = {
#define ROW(id, name, ring, copies, loops, about) {name, ring, (copies) * (loops)},
		CALIBRATE_PRIMITIVES(ROW)
#undef ROW
	};
	char path[512];
	unsigned int timed = 0;

	if (ring_of(state) == 0 && ring0_is_interpreted()) {
		print_message("skipped: ring 0 is interpreted here\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/calibrate.elf", folder);
	for (unsigned int i = 0; i < CALIBRATE_PRIMITIVE_COUNT; i++) {
		static struct calibrate_result r;

		if (all[i].ring != ring_of(state)) {
			continue;
		}
		calibrate_run(NULL, path, (enum calibrate_primitive)i, SAMPLES, &r);
		if (r.error == CALIBRATE_NO_FEATURE) {
			continue;
		}
		if (r.error) {
			fail_msg("%s: %s", all[i].name, r.text);
		}
		assert_int_equal(r.batches, SAMPLES);
		assert_int_equal(r.operations, all[i].operations);
		/* A chain of thousands takes longer than nothing, and so do its loops. */
		assert_true(least_of(&r, 1) > least_of(&r, 0));
		assert_true(least_of(&r, 3) > 0);
		timed++;
	}
	assert_true(timed >= 4);
}

static void a_payload_that_does_not_end_is_stopped_in_time(void **state)
{
	struct err e = ERR_INIT;
	struct bench b;
	uint64_t start = clock_now_ns(&clock_monotonic);

	bench_open(&b, "echo", ring_of(state));
	assert_int_equal(payload_vm_run(b.vm, 100 * NS_PER_MSEC, &b.out, &e), 0);
	assert_int_equal(b.out.end, PAYLOAD_END_TIMEOUT);
	assert_non_null(strstr(b.out.text, "no end within 100 ms, rip 0x10"));
	assert_int_equal(b.out.block.state, PAYLOAD_STARTED);
	assert_true(clock_now_ns(&clock_monotonic) - start < 10 * NS_PER_SEC);
	bench_close(&b);
}

static unsigned int ring0 = 0, ring3 = 3;

#define IN_RING(test, ring)                                                             \
	{                                                                               \
		.name = #test "_in_" #ring, .test_func = test, .initial_state = &(ring) \
	}
#define IN_BOTH(test) IN_RING(test, ring3), IN_RING(test, ring0)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_BOTH(exit_hands_its_argument_to_the_exit_port),
		IN_BOTH(ring_timing_times_longer_loops_as_longer),
		IN_BOTH(ring_timing_cuts_the_samples_to_its_page),
		IN_BOTH(report_selftest_says_what_it_must_and_counts_its_failure),
		IN_BOTH(mark_sends_every_kind_in_the_order_of_a_boot),
		IN_BOTH(mark_can_leave_the_user_start_to_the_boot_timer),
		IN_BOTH(echo_sends_back_what_it_receives_until_eot),
		IN_BOTH(unclaimed_finds_all_ones_everywhere),
		IN_BOTH(unclaimed_fails_where_a_device_answers),
		IN_RING(calibrate_runs_each_loop_once_for_warmth_and_once_in_each_batch, ring3),
		IN_BOTH(calibrate_refuses_what_the_table_does_not_have_or_has_in_the_other_ring),
		IN_BOTH(calibrate_times_every_primitive_of_its_ring),
		IN_BOTH(a_payload_that_does_not_end_is_stopped_in_time),
	};
	struct probe_kvm kvm;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER-OF-PAYLOADS\n", argv[0]);
		return 2;
	}
	folder = argv[1];
	probe_kvm(NULL, &kvm);
	if (kvm.error) {
		printf("skipped: %s\n", kvm.text);
		return SKIP_STATUS;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

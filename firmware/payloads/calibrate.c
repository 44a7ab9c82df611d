/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate.elf: what one primitive takes, in batches that the host can judge. abi/calibrate.h has
 * the table and says where the numbers are; the loops are in calibrate_loops.c.
 */
#include "calibrate_priv.h"

#include "abi/marks.h"

struct primitive {
	uint64_t copies;
	uint64_t loops;
	unsigned int ring;
};

static const struct primitive primitives[CALIBRATE_PRIMITIVE_COUNT] = {
#define ROW(id, name, ring, copies, loops, about) [CALIBRATE_##id] = {copies, loops, ring},
	CALIBRATE_PRIMITIVES(ROW)
#undef ROW
};

/* What the batches need; in static memory, since 'syscall' changes its ring in between. */
static struct {
	calibrate_loop loop;
	uint64_t loops;
	uint64_t batches;
	bool print;
	struct calibrate_input input;
} run;

static void batch(uint64_t *ret)
{
	const uint64_t chain_loops = CALIBRATE_CHAIN_ADDS / CALIBRATE_CHAIN_COPIES;

	/* Once for warmth: caches, branch predictors, and a translation where the CPU is software.
	 */
	calibrate_empty(1, &run.input);
	calibrate_chain(chain_loops, &run.input);
	calibrate_empty(run.loops, &run.input);
	run.loop(run.loops, &run.input);
	ret[0] = calibrate_empty(1, &run.input);
	ret[1] = calibrate_chain(chain_loops, &run.input);
	ret[2] = calibrate_empty(run.loops, &run.input);
	ret[3] = run.loop(run.loops, &run.input);
}

static void print_batches(void)
{
	const uint64_t *v = fw_block.values;

	for (uint64_t i = 0; i < run.batches; i++, v += CALIBRATE_VALUES) {
		fw_printf("BATCH: %lu %lu %lu %lu\n", v[0], v[1], v[2], v[3]);
	}
}

static _Noreturn void run_batches(void)
{
	for (uint64_t i = 0; i < run.batches; i++) {
		outb(MARK_PORT, MARK_WINDOW_OPEN);
		batch(&fw_block.values[CALIBRATE_VALUES * i]);
		outb(MARK_PORT, MARK_WINDOW_CLOSE);
	}
	fw_block.value_count = CALIBRATE_VALUES * run.batches;
	if (run.print) {
		print_batches();
	}
	fw_exit(CALIBRATE_OK);
}

/* A host that shares the block says in which ring we start; one that does not knows ring 0 only. */
static bool in_right_ring(enum calibrate_primitive which)
{
	return primitives[which].ring == fw_ring() || (fw_arg(0, 0) == 0 && fw_ring() == 0);
}

uint64_t payload_main(void)
{
	uint64_t which = fw_arg(0, fw_cmdline_number("primitive=", 0)) - 1;

	run.batches = fw_arg(1, fw_cmdline_number("batches=", CALIBRATE_BATCHES_MAX));
	run.print = fw_cmdline_number("print=", 0) != 0;
	if (which >= CALIBRATE_PRIMITIVE_COUNT || run.batches > CALIBRATE_BATCHES_MAX ||
	    !in_right_ring((enum calibrate_primitive)which)) {
		return CALIBRATE_BAD_ARGUMENT;
	}
	run.loops = fw_arg(2, primitives[which].loops);
	run.loop = calibrate_loops[which];
	if (!calibrate_prepare((enum calibrate_primitive)which, &run.input)) {
		return CALIBRATE_UNSUPPORTED;
	}
	if (fw_ring() == 0 && (primitives[which].ring == 3 || which == CALIBRATE_SYSCALL)) {
		calibrate_enter_ring3(run_batches);
	}
	run_batches();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_fixture.h. GOLDEN_UPDATE=1 in the environment rewrites the files of tests/golden. */
#include "report_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Boots around @a and @b that wander by up to @noise, always in the same way. */
static void values(struct stats_block *blocks, size_t n, double a, double b, double noise)
{
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < 2; i++) {
			size_t at = 4 * k + 2 * i;

			blocks[k].a[i] = a + noise * (double)(at * 37 % 41) / 20 - noise;
			blocks[k].b[i] = b + noise * (double)(at * 29 % 43) / 21 - noise;
		}
	}
}

static void bench(struct report_fixture *f, size_t i, const char *name, const char *per, size_t n)
{
	struct report_bench *b = &f->benches[i];

	b->name = name;
	b->per = per;
	b->calls = 1000;
	b->blocks = f->blocks[i];
	b->n_blocks = n;
	for (int arm = 0; arm < 2; arm++) {
		b->batches[arm].total = 60 * n;
	}
}

static void init(struct report_fixture *f)
{
	*f = (struct report_fixture){.report = REPORT_INIT};
	f->report.ringside_version = "0.1.0";
	f->report.benches = f->benches;
	f->report.n_benches = FIXTURE_BENCHES;
	f->report.seed = 42;
}

/* An instruction counter: one benchmark that does not change, one that does, and a probe. */
void fixture_icount(struct report_fixture *f)
{
	init(f);
	for (int arm = 0; arm < 2; arm++) {
		f->report.arms[arm] = (struct report_arm){
			.label = arm ? "fsgsbase" : "nofsgsbase",
			.kernel = "base",
			.kernel_version = "6.12.48",
			.kernel_sha256 = "0123456789abcdef0123456789abcdef"
					 "0123456789abcdef0123456789abcdef",
			.append = arm ? "" : "nofsgsbase",
		};
	}
	f->report.same_image = true;
	f->report.class = EXEC_ICOUNT;
	f->report.backend = "kvm";
	f->report.ticks_per_unit = 8;
	f->report.host_cpu = "QEMU TCG CPU version 2.5+";
	f->report.host_kernel = "6.12.48";
	f->report.blocks_planned = 12;
	f->report.blocks_complete = 12;
	f->report.boots_planned = f->report.boots_recorded = 48;
	bench(f, 0, "syscall.null", "call", 12);
	values(f->blocks[0], 12, 222.003, 222.003, 0);
	f->benches[0].batches[STATS_A].dirty = 14;
	f->benches[0].batches[STATS_A].by_cause[DISTURBED_IRQ] = 14;
	f->benches[0].batches[STATS_A].by_cause[DISTURBED_EXIT] = 3;
	f->benches[0].batches[STATS_B].dirty = 9;
	f->benches[0].batches[STATS_B].by_cause[DISTURBED_IRQ] = 9;
	bench(f, 1, "ctxsw.pipe.fsgs", "switch", 12);
	values(f->blocks[1], 12, 3917.5, 3888.5, 1.5);
	bench(f, 2, "switch_to.fsgs@ctxsw.pipe.fsgs", "switch", 12);
	values(f->blocks[2], 12, 96.125, 71.125, 0);
	f->benches[2].is_probe = true;
	f->benches[2].samples[STATS_A] = 480000;
	f->benches[2].samples[STATS_B] = 480017;
}

/* Cycles: something worse, something too noisy to tell, something that failed, two images. */
void fixture_nested(struct report_fixture *f)
{
	init(f);
	f->report.arms[STATS_A] = (struct report_arm){.label = "v6.12", .kernel = "/k/a/vmlinux"};
	f->report.arms[STATS_B] = (struct report_arm){
		.label = "v6.12 with a patch series whose name goes on and on until no line of "
			 "eighty columns can hold it",
		.kernel = "/k/b/vmlinux",
		.append = "mitigations=off \033[31mred\033[0m",
	};
	f->report.class = EXEC_NESTED;
	f->report.backend = "kvm";
	f->report.ticks_per_unit = 1;
	f->report.blocks_planned = 24;
	f->report.blocks_complete = 23;
	f->report.boots_planned = f->report.boots_recorded = 96;
	bench(f, 0, "syscall.null", "call", 23);
	values(f->blocks[0], 23, 180, 184, 3);
	bench(f, 1, "ctxsw.yield.fs", "switch", 23);
	values(f->blocks[1], 23, 1500, 1500.4, 90);
	bench(f, 2, "ctxsw.futex.fs", "switch", 0);
	f->benches[2].error = "boot 3 of arm B: the thread pair ran on two CPUs";
	f->benches[2].boots_lost[STATS_B] = 46;
	f->benches[2].batches[STATS_B].total = 0;
}

static void claim(struct set_fixture *f, size_t row, const char *text, const char *bench)
{
	struct claim *c = &f->said[f->set.n_claims];
	struct report *r = row < FIXTURE_BENCHES ? &f->one.report : &f->two.report;

	claim_init(c);
	c->text = strdup(text);
	c->source = strdup("a mail");
	c->hardware = strdup("a laptop");
	c->bench = strdup(bench);
	c->arm = 1;
	f->claims[f->set.n_claims++] = (struct report_claim){
		.claim = c,
		.group = r->group,
		.report = r,
		.bench = &r->benches[row % FIXTURE_BENCHES],
	};
}

void fixture_set(struct set_fixture *f)
{
	struct err e = ERR_INIT;

	fixture_icount(&f->one);
	fixture_icount(&f->two);
	f->one.report.group = "first";
	f->two.report.group = "second";
	f->two.report.arms[STATS_B].letter = 'C';
	f->two.report.arms[STATS_B].label = "third";
	f->reports[0] = &f->one.report;
	f->reports[1] = &f->two.report;
	assert_int_equal(report_compute_family(f->reports, 2, &e), 0);
	f->set = (struct report_set){
		.title = "Two groups",
		.reports = f->reports,
		.n_reports = 2,
		.claims = f->claims,
		.boots_planned = 96,
		.boots_recorded = 96,
	};
	claim(f, 1, "a switch takes about 100 cycles less", "ctxsw.pipe.fsgs");
	f->said[0].change_low = f->said[0].change_high = -100;
	f->said[0].unit = strdup("cycles per switch");
	f->said[0].note = strdup("Mind this.");
	f->claims[0].floor = (struct report_floor){.id = "fsgsbase.fs",
						   .unit = "cycles per switch",
						   .formula = "WRMSR - 4 SWAPGS",
						   .value = -51.25,
						   .low = -52,
						   .high = -50.5,
						   .n = 12};
	claim(f, 2, "the part alone", "switch_to.fsgs@ctxsw.pipe.fsgs");
	f->said[1].percent_low = -10;
	f->said[1].percent_high = -5;
	f->said[1].of = strdup("its time with Linux 4.16");
	f->claims[1].floor = (struct report_floor){.id = "fsgsbase.fsgs",
						   .reason = "ring 0 is not native on this host"};
	f->two.benches[1].units_hz = 125e6;
	claim(f, FIXTURE_BENCHES + 1, "connections go up \xe2\x86\x92 \033[31mred",
	      "ctxsw.pipe.fsgs");
	f->said[2].from = 12400;
	f->said[2].to = 21000;
	f->said[2].unit = strdup("connections/s");
	f->said[2].of = strdup("the same with page-table isolation");
	claim(f, FIXTURE_BENCHES + 1, "one is dearer than the other", "ctxsw.pipe.fsgs");
	f->said[3].against = strdup("ctxsw.pipe.fs");
	claim(f, FIXTURE_BENCHES, "nothing was measured of this", "x@syscall.null");
	f->claims[4].bench = NULL;
	f->claims[4].why = "no boot has given a value for x@syscall.null";
}

void fixture_set_fini(struct set_fixture *f)
{
	for (size_t i = 0; i < f->set.n_claims; i++) {
		claim_fini(&f->said[i]);
	}
	report_fini(&f->one.report);
	report_fini(&f->two.report);
}

void fixture_compute(struct report_fixture *f)
{
	struct err e = ERR_INIT;

	assert_int_equal(report_compute(&f->report, &e), 0);
}

/* Fails unless folder/name holds exactly what was found. */
void fixture_golden(const char *folder, const char *name, const char *found)
{
	static char wanted[1 << 17];
	char path[4096];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (getenv("GOLDEN_UPDATE")) {
		f = fopen(path, "we");
		assert_non_null(f);
		assert_int_equal(fwrite(found, 1, strlen(found), f), strlen(found));
		assert_int_equal(fclose(f), 0);
		return;
	}
	f = fopen(path, "re");
	if (!f) {
		fail_msg("%s cannot be read", path);
	}
	len = fread(wanted, 1, sizeof(wanted) - 1, f);
	fclose(f);
	wanted[len] = '\0';
	assert_string_equal(found, wanted);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See calibration.h: the maths. */
#include "engine/calibration.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stats/order.h"

static const struct {
	const char *name;
	const char *about;
	unsigned int ring;
} primitives[CALIBRATE_PRIMITIVE_COUNT] = {
#define ROW(id, name, ring, copies, loops, about) [CALIBRATE_##id] = {name, about, ring},
	CALIBRATE_PRIMITIVES(ROW)
#undef ROW
};

#define TERMS_MAX 8

struct term {
	int times; /* 0 ends the list; below 0: the change adds it */
	enum calibrate_primitive primitive;
};

struct floor {
	const char *id;
	struct term terms[TERMS_MAX];
};

/*
 * What each change takes away, less what it adds (guest-kernel-config/README.md has the changes).
 * Of rows with the same id the first that was measured counts: a kernel with PCID does not flush.
 */
static const struct floor floors[] = {
	{"fsgsbase.fs",
	 {{1, CALIBRATE_WRMSR_FS_BASE},
	  {-1, CALIBRATE_RDFSBASE},
	  {-1, CALIBRATE_WRFSBASE},
	  {-1, CALIBRATE_RDGSBASE},
	  {-1, CALIBRATE_WRGSBASE},
	  {-4, CALIBRATE_SWAPGS}}},
	{"fsgsbase.fsgs",
	 {{1, CALIBRATE_WRMSR_FS_BASE},
	  {1, CALIBRATE_WRMSR_KERNEL_GS_BASE},
	  {-1, CALIBRATE_RDFSBASE},
	  {-1, CALIBRATE_WRFSBASE},
	  {-1, CALIBRATE_RDGSBASE},
	  {-1, CALIBRATE_WRGSBASE},
	  {-4, CALIBRATE_SWAPGS}}},
	{"uaccess.get", {{1, CALIBRATE_LOAD_FENCED}, {-1, CALIBRATE_LOAD_MASKED}}},
	{"uaccess.put", {{1, CALIBRATE_STORE_PLAIN}, {-1, CALIBRATE_STORE_CHECKED}}},
	{"nopti.syscall",
	 {{2, CALIBRATE_CR3_WRITE_NOFLUSH}, {-1, CALIBRATE_TEST_CR3}, {-1, CALIBRATE_TEST_FLAG}}},
	{"nopti.syscall",
	 {{2, CALIBRATE_CR3_WRITE}, {-1, CALIBRATE_TEST_CR3}, {-1, CALIBRATE_TEST_FLAG}}},
};

_Static_assert(ARRAY_SIZE(floors) <= CALIBRATION_FLOORS_MAX, "floors fit");
_Static_assert(CALIBRATE_PRIMITIVE_COUNT <= CALIBRATION_PRIMITIVES_MAX, "primitives fit");

/* A counter that stood still may be off by what its reads cost. */
static double difference(uint64_t to, uint64_t from)
{
	return (double)(int64_t)(to - from);
}

static bool moved(uint64_t counter)
{
	return counter != CALIBRATION_NO_VALUE && counter > 0;
}

/**
 * calibration_judge() - mark the batches that were disturbed
 * @batches: of one primitive in one replicate; 'dirty' is set
 * @windows: what the host's counters did meanwhile, in the same order
 * @count: how many
 *
 * A batch has exits of its own: its closing mark, and those that are the primitive. They are the
 * same in all of them, so the calmest one is the measure.
 *
 * Context: any thread.
 */
void calibration_judge(struct calibration_batch *batches, const struct calibration_window *windows,
		       size_t count)
{
	uint64_t calmest = CALIBRATION_NO_VALUE;

	for (size_t i = 0; i < count; i++) {
		calmest = windows[i].kvm_exits < calmest ? windows[i].kvm_exits : calmest;
	}
	for (size_t i = 0; i < count; i++) {
		const struct calibration_window *w = &windows[i];
		bool more = w->kvm_exits != CALIBRATION_NO_VALUE && w->kvm_exits > calmest;

		batches[i].dirty =
			(uint8_t)(more << DISTURBED_KVM | moved(w->irqs) << DISTURBED_IRQ |
				  moved(w->steal_ns) << DISTURBED_STEAL |
				  moved(w->nivcsw) << DISTURBED_PREEMPT);
	}
}

/**
 * calibration_point_make() - one primitive's number of one replicate
 * @batches: as they were measured
 * @count: how many
 * @operations: of the primitive in a batch, 1 or more
 * @ret: always set; not measured, with a reason, when fewer than CALIBRATION_CLEAN_MIN are clean
 *
 * The median of the clean batches, in ticks and, batch by batch, in the cycles of that batch's own
 * chain; a batch whose chain took no time has no such ratio.
 *
 * Context: any thread.
 */
void calibration_point_make(const struct calibration_batch *batches, size_t count,
			    uint64_t operations, struct calibration_point *ret)
{
	double ticks[CALIBRATE_BATCHES_MAX], cycles[CALIBRATE_BATCHES_MAX],
		chains[CALIBRATE_BATCHES_MAX];
	size_t clean = 0, ratios = 0;

	*ret = (struct calibration_point){.core_cycles = NAN, .ticks_per_cycle = NAN};
	for (size_t i = 0; i < count && i < CALIBRATE_BATCHES_MAX; i++) {
		const uint64_t *t = batches[i].ticks;
		double chain = difference(t[1], t[0]) / CALIBRATE_CHAIN_ADDS;

		ret->batches++;
		ret->dirty += batches[i].dirty != 0;
		for (int k = 0; k < DISTURBANCE_COUNT; k++) {
			ret->by_cause[k] += batches[i].dirty >> k & 1;
		}
		if (batches[i].dirty) {
			continue;
		}
		ticks[clean] = difference(t[3], t[2]) / (double)operations;
		/* What nobody sees (a hypervisor below the host) may fall into the short loop. */
		if (chain > 0) {
			chains[ratios] = chain;
			cycles[ratios++] = ticks[clean] / chain;
		}
		clean++;
	}
	if (clean < CALIBRATION_CLEAN_MIN) {
		snprintf(ret->reason, sizeof(ret->reason),
			 "%zu of %llu batches were undisturbed, at least %d are needed", clean,
			 (unsigned long long)ret->batches, CALIBRATION_CLEAN_MIN);
		return;
	}
	stats_sort(ticks, clean);
	ret->measured = true;
	ret->ticks = stats_median_of_sorted(ticks, clean);
	if (ratios >= CALIBRATION_CLEAN_MIN) {
		stats_sort(cycles, ratios);
		stats_sort(chains, ratios);
		ret->core_cycles = stats_median_of_sorted(cycles, ratios);
		ret->ticks_per_cycle = stats_median_of_sorted(chains, ratios);
	}
}

static const struct calibration_number no_number = {NAN, NAN, NAN, NAN};

/* The median over replicates, or no number when there are none or one of them is none. */
static int over_replicates(const double *values, size_t n, struct calibration_number *ret)
{
	struct stats_interval iv;
	double median;
	int r;

	*ret = no_number;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(values[i])) {
			return 0;
		}
	}
	if (n == 0) {
		return 0;
	}
	r = stats_median(values, n, &median);
	r = r < 0 ? r : stats_median_interval(values, n, CALIBRATION_LEVEL, &iv);
	if (r == 0) {
		*ret = (struct calibration_number){median, iv.lo, iv.hi, iv.level};
	}
	return r;
}

static bool runs_natively(enum exec_class class, unsigned int ring)
{
	return class == EXEC_NATIVE || class == EXEC_NESTED ||
	       (class == EXEC_EMULATED && ring == 3);
}

/* Where ring 3 is the processor's own, its ticks are the cycles that they are anywhere. */
static const char *unit_of(enum exec_class class, unsigned int ring)
{
	return exec_class_unit(class == EXEC_EMULATED && ring == 3 ? EXEC_NATIVE : class);
}

static int make_primitive(const struct calibration_replicate *replicates, size_t count,
			  enum calibrate_primitive which, double ticks_per_unit,
			  struct calibration_primitive *p)
{
	double values[CALIBRATION_REPLICATES_MAX], cycles[CALIBRATION_REPLICATES_MAX];
	int r;

	snprintf(p->name, sizeof(p->name), "%s", primitives[which].name);
	snprintf(p->about, sizeof(p->about), "%s", primitives[which].about);
	p->ring = primitives[which].ring;
	for (size_t i = 0; i < count; i++) {
		const struct calibration_point *point = &replicates[i].points[which];

		p->batches += point->batches;
		p->dirty += point->dirty;
		if (point->measured) {
			values[p->n] = point->ticks / ticks_per_unit;
			cycles[p->n] = p->native ? point->core_cycles : NAN;
			p->n++;
		} else if (!p->reason[0]) {
			snprintf(p->reason, sizeof(p->reason), "%s", point->reason);
		}
	}
	r = over_replicates(values, p->n, &p->number);
	r = r < 0 ? r : over_replicates(cycles, p->n, &p->core_cycles);
	if (p->n > 0) {
		p->reason[0] = '\0';
	}
	return r;
}

/* "2 wrmsr.fs_base - rdfsbase" */
static void print_formula(const struct term *terms, char *ret, size_t len)
{
	size_t at = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < TERMS_MAX && terms[i].times && at < len; i++) {
		int times = terms[i].times < 0 ? -terms[i].times : terms[i].times;
		const char *sign = terms[i].times < 0 ? " - " : i ? " + " : "";

		at += (size_t)snprintf(ret + at, len - at, "%s", sign);
		if (times > 1 && at < len) {
			at += (size_t)snprintf(ret + at, len - at, "%d × ", times);
		}
		if (at < len) {
			at += (size_t)snprintf(ret + at, len - at, "%s",
					       primitives[terms[i].primitive].name);
		}
	}
}

/* The formula in one replicate: false when a primitive is missing there. */
static bool evaluate(const struct calibration_replicate *replicate, const struct term *terms,
		     double *ret)
{
	*ret = 0;
	for (size_t i = 0; i < TERMS_MAX && terms[i].times; i++) {
		const struct calibration_point *p = &replicate->points[terms[i].primitive];

		if (!p->measured) {
			return false;
		}
		*ret += terms[i].times * p->ticks;
	}
	return true;
}

/* Names the primitives that are missing everywhere, and why the first one is. */
static void explain(const struct calibration *c, const struct term *terms, char *ret, size_t len)
{
	const char *why = NULL;
	size_t at = 0;

	for (size_t i = 0; i < TERMS_MAX && terms[i].times && at < len; i++) {
		const struct calibration_primitive *p = &c->primitives[terms[i].primitive];

		if (p->n == 0) {
			at += (size_t)snprintf(ret + at, len - at, "%s%s",
					       why ? ", " : "not measured: ", p->name);
			why = why ? why : p->reason;
		}
	}
	if (at < len) {
		snprintf(ret + at, len - at, why ? " (%s)" : "%s",
			 why ? why : "no replicate measured all of its primitives");
	}
}

/* The unit of a floor is that of its dearest term: they only differ where one is not measured. */
static const char *floor_unit(enum exec_class class, const struct term *terms)
{
	unsigned int ring = 3;

	for (size_t i = 0; i < TERMS_MAX && terms[i].times; i++) {
		ring = primitives[terms[i].primitive].ring < ring
			       ? primitives[terms[i].primitive].ring
			       : ring;
	}
	return unit_of(class, ring);
}

static int make_floor(const struct calibration *c, const struct calibration_replicate *replicates,
		      size_t count, const struct floor *floor, double ticks_per_unit,
		      struct calibration_floor *ret)
{
	double values[CALIBRATION_REPLICATES_MAX];
	struct calibration_number number;
	int r;

	*ret = (struct calibration_floor){0};
	snprintf(ret->id, sizeof(ret->id), "%s", floor->id);
	snprintf(ret->unit, sizeof(ret->unit), "%s", floor_unit(c->class, floor->terms));
	print_formula(floor->terms, ret->formula, sizeof(ret->formula));
	for (size_t i = 0; i < count; i++) {
		if (evaluate(&replicates[i], floor->terms, &values[ret->n])) {
			values[ret->n] /= ticks_per_unit;
			ret->n++;
		}
	}
	r = over_replicates(values, ret->n, &number);
	ret->value = number.median;
	ret->low = number.low;
	ret->high = number.high;
	if (ret->n == 0) {
		explain(c, floor->terms, ret->reason, sizeof(ret->reason));
	}
	return r;
}

/* A row with the id of the one before takes its place when only it has a number. */
static int make_floors(struct calibration *c, const struct calibration_replicate *replicates,
		       size_t count, double ticks_per_unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(floors); i++) {
		struct calibration_floor *last =
			c->floor_count ? &c->floors[c->floor_count - 1] : NULL;
		struct calibration_floor f;
		int r = make_floor(c, replicates, count, &floors[i], ticks_per_unit, &f);

		if (r < 0) {
			return r;
		}
		if (!last || strcmp(last->id, f.id) != 0) {
			c->floors[c->floor_count++] = f;
		} else if (last->n == 0 && f.n > 0) {
			*last = f;
		}
	}
	return 0;
}

static int make_clock(struct calibration *c, const struct calibration_replicate *replicates,
		      size_t count)
{
	double values[CALIBRATION_REPLICATES_MAX];
	size_t n = 0;

	c->ticks_per_cycle = no_number;
	for (size_t i = 0; i < count; i++) {
		const struct calibration_point *p = &replicates[i].points[CALIBRATE_LFENCE];

		if (p->measured && runs_natively(c->class, primitives[CALIBRATE_LFENCE].ring)) {
			values[n++] = p->ticks_per_cycle;
		}
	}
	return over_replicates(values, n, &c->ticks_per_cycle);
}

/**
 * calibration_make() - all replicates to one calibration
 * @replicates: one a process
 * @count: 1 to CALIBRATION_REPLICATES_MAX
 * @class: of this machine
 * @icount_shift: for EXEC_ICOUNT
 * @ret: set on success; the caller frees it. What the maths cannot know (evidence, host) is empty.
 * @e: set on failure
 *
 * Return: 0, -EINVAL for a count out of range, -ENOMEM, -EDOM for a number that is none.
 * Context: any thread.
 */
int calibration_make(const struct calibration_replicate *replicates, size_t count,
		     enum exec_class class, unsigned int icount_shift, struct calibration **ret,
		     struct err *e)
{
	const double ticks_per_unit = (double)exec_class_ticks_per_unit(class, icount_shift);
	_cleanup_free_ struct calibration *c = NULL;
	int r = 0;

	if (count == 0 || count > CALIBRATION_REPLICATES_MAX) {
		return err_set(e, -EINVAL, "%zu replicates, 1 to %d are possible", count,
			       CALIBRATION_REPLICATES_MAX);
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		return err_errno(e, -ENOMEM, "calibration");
	}
	c->class = class;
	c->icount_shift = icount_shift;
	c->replicates = count;
	c->primitive_count = CALIBRATE_PRIMITIVE_COUNT;
	for (unsigned int i = 0; i < CALIBRATE_PRIMITIVE_COUNT && r == 0; i++) {
		struct calibration_primitive *p = &c->primitives[i];
		const unsigned int ring = primitives[i].ring;

		p->native = runs_natively(class, ring);
		p->class = class;
		snprintf(p->unit, sizeof(p->unit), "%s", unit_of(class, ring));
		r = make_primitive(replicates, count, (enum calibrate_primitive)i, ticks_per_unit,
				   p);
	}
	r = r < 0 ? r : make_clock(c, replicates, count);
	r = r < 0 ? r : make_floors(c, replicates, count, ticks_per_unit);
	if (r < 0) {
		return err_set(e, r, "calibration: %s", stats_error_text(r));
	}
	*ret = TAKE_PTR(c);
	return 0;
}

/**
 * calibration_primitive() - a primitive by its name
 * @c: a calibration
 * @name: as in abi/calibrate.h
 *
 * Return: part of @c, or NULL.
 * Context: any thread.
 */
const struct calibration_primitive *calibration_primitive(const struct calibration *c,
							  const char *name)
{
	for (size_t i = 0; i < c->primitive_count; i++) {
		if (strcmp(c->primitives[i].name, name) == 0) {
			return &c->primitives[i];
		}
	}
	return NULL;
}

/**
 * calibration_floor() - a floor by its id
 * @c: a calibration
 * @id: "uaccess.get" and the like
 *
 * Return: part of @c, or NULL.
 * Context: any thread.
 */
const struct calibration_floor *calibration_floor(const struct calibration *c, const char *id)
{
	for (size_t i = 0; i < c->floor_count; i++) {
		if (strcmp(c->floors[i].id, id) == 0) {
			return &c->floors[i];
		}
	}
	return NULL;
}

/**
 * calibration_check_floor() - whether there is a floor of that id
 * @id: "uaccess.get" and the like
 * @e: set on failure, with the ids that there are
 *
 * Return: 0 or -EINVAL.
 * Context: any thread.
 */
int calibration_check_floor(const char *id, struct err *e)
{
	char ids[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(floors); i++) {
		if (strcmp(floors[i].id, id) == 0) {
			return 0;
		}
		if (i == 0 || strcmp(floors[i].id, floors[i - 1].id) != 0) {
			len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%s", i ? ", " : "",
						floors[i].id);
			assert(len < sizeof(ids));
		}
	}
	return err_set(e, -EINVAL, "'%s' is no floor of 'ringside calibrate'; there are: %s", id,
		       ids);
}

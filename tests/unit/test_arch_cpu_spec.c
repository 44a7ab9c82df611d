/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/cpu_spec.h"
#include "arch/x86/cpuid.h"

static struct kvm_cpuid_table table;
static struct x86_cpu_spec spec;
static struct err e;

/* A host that has every feature of the table. */
static void offer_all(void)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	memset(&table, 0, sizeof(table));
	for (size_t i = 0; i < count; i++) {
		struct kvm_cpuid_entry2 *leaf = NULL;

		for (uint32_t j = 0; j < table.head.nent; j++) {
			if (table.entries[j].function == f[i].leaf &&
			    table.entries[j].index == f[i].index) {
				leaf = &table.entries[j];
			}
		}
		if (!leaf) {
			leaf = &table.entries[table.head.nent++];
			leaf->function = f[i].leaf;
			leaf->index = f[i].index;
		}
		(&leaf->eax)[f[i].reg] |= 1u << f[i].bit;
	}
	table.entries[table.head.nent++] =
		(struct kvm_cpuid_entry2){.function = 0xa, .eax = 0x08300402, .ebx = 1, .edx = 3};
	table.entries[table.head.nent++] =
		(struct kvm_cpuid_entry2){.function = 0xd, .eax = 0x602e7};
	for (uint32_t i = 2; i < 19; i++) {
		table.entries[table.head.nent++] = (struct kvm_cpuid_entry2){
			.function = 0xd, .index = i, .eax = 64, .ebx = 64 * i};
	}
}

static const struct kvm_cpuid_entry2 *leaf_of(uint32_t function, uint32_t index)
{
	for (uint32_t i = 0; i < table.head.nent; i++) {
		if (table.entries[i].function == function && table.entries[i].index == index) {
			return &table.entries[i];
		}
	}
	fail_msg("no leaf 0x%x.%u", function, index);
	return NULL;
}

static bool has(const char *name)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(f[i].name, name) == 0) {
			return (&leaf_of(f[i].leaf, f[i].index)->eax)[f[i].reg] >> f[i].bit & 1;
		}
	}
	fail_msg("no feature %s", name);
	return false;
}

static int apply(const char *text)
{
	int r;

	offer_all();
	r = x86_cpu_spec_parse(text, &spec, &e);
	return r < 0 ? r : x86_cpu_spec_apply(&spec, &table, &e);
}

static void every_feature_is_one_bit_of_its_own_behind_what_it_needs(void **state)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	assert_in_range(count, 90, X86_FEATURES_MAX);
	for (size_t i = 0; i < count; i++) {
		bool found = !f[i].needs;

		assert_true(f[i].bit < 32);
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(f[i].name, f[j].name);
			assert_false(f[i].leaf == f[j].leaf && f[i].index == f[j].index &&
				     f[i].reg == f[j].reg && f[i].bit == f[j].bit);
			found |= f[i].needs && strcmp(f[i].needs, f[j].name) == 0;
		}
		assert_true(found);
	}
}

static void each_feature_can_be_taken_away_and_takes_only_what_needs_it(void **state)
{
	size_t count;
	const struct x86_feature *f = x86_features(&count);

	for (size_t i = 0; i < count; i++) {
		char text[64];

		snprintf(text, sizeof(text), "host,-%s", f[i].name);
		assert_int_equal(apply(text), 0);
		assert_false(has(f[i].name));
		for (size_t j = 0; j < count; j++) {
			const char *need = f[j].needs;
			/* perfctr-core goes with the counters, which are off unless asked for. */
			bool gone = j == i || strcmp(f[j].name, "perfctr-core") == 0 ||
				    (need && !has(need)) ||
				    (f[i].leaf == 1 && strcmp(f[i].name, "xsave") == 0 &&
				     f[j].leaf == 0xd);

			assert_int_equal(has(f[j].name), !gone);
		}
	}
}

static void the_first_word_may_be_left_out_and_underscores_are_dashes(void **state)
{
	assert_int_equal(apply("-pcid,-sse4.1,-lahf_lm"), 0);
	assert_false(has("pcid"));
	assert_false(has("invpcid"));
	assert_false(has("sse4.2"));
	assert_false(has("lahf-lm"));
	assert_true(has("fsgsbase"));
}

static void without_xsave_there_is_no_avx_and_no_state(void **state)
{
	assert_int_equal(apply("-xsave"), 0);
	assert_false(has("avx"));
	assert_false(has("avx512-fp16"));
	assert_false(has("pku"));
	assert_int_equal(x86_cpuid_xcr0(&table), 0);
	assert_int_equal(leaf_of(0xd, 2)->eax, 0);
}

static void state_components_go_with_their_features(void **state)
{
	static const struct {
		const char *text;
		uint64_t xcr0;
		uint32_t gone, kept;
	} cases[] = {
		{"-avx", 0x60203, 2, 9},          {"-avx512f", 0x60207, 5, 2},
		{"-pku", 0x600e7, 9, 2},          {"-amx-tile", 0x2e7, 17, 9},
		{"-avx512f,-pku", 0x60007, 7, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(apply(cases[i].text), 0);
		assert_int_equal(x86_cpuid_xcr0(&table), cases[i].xcr0);
		assert_int_equal(leaf_of(0xd, cases[i].gone)->eax, 0);
		assert_int_equal(leaf_of(0xd, cases[i].kept)->eax, 64);
	}
}

static void a_baseline_keeps_what_is_for_kernels_and_takes_what_is_above_it(void **state)
{
	assert_int_equal(apply("x86-64-v2"), 0);
	assert_true(has("sse4.2"));
	assert_true(has("cx16"));
	assert_true(has("fsgsbase"));
	assert_true(has("pcid"));
	assert_false(has("xsave"));
	assert_false(has("avx"));
	assert_false(has("rdrand"));
	assert_int_equal(apply("x86-64-v3,-fma,+aes"), 0);
	assert_true(has("avx2"));
	assert_true(has("aes"));
	assert_false(has("fma"));
	assert_false(has("avx512f"));
	assert_int_equal(apply("x86-64-v4"), 0);
	assert_true(has("avx512vl"));
	assert_false(has("avx512vnni"));
}

static void all_that_the_host_lacks_is_named(void **state)
{
	assert_int_equal(x86_cpu_spec_parse("host,+pcid,+fsgsbase,-avx,+tsc-deadline", &spec, &e),
			 0);
	offer_all();
	for (uint32_t i = 0; i < table.head.nent; i++) {
		table.entries[i].ecx &=
			table.entries[i].function == 1 ? ~(1u << 17 | 1u << 24) : UINT32_MAX;
		table.entries[i].ebx &= table.entries[i].function == 7 ? ~1u : UINT32_MAX;
	}
	assert_int_equal(x86_cpu_spec_apply(&spec, &table, &e), -ENOTSUP);
	assert_string_equal(e.text, "--cpu: this machine's KVM does not offer pcid, fsgsbase");
	memset(&table, 0, sizeof(table));
	assert_int_equal(x86_cpu_spec_parse("x86-64-v2", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_apply(&spec, &table, &e), -ENOTSUP);
	assert_int_equal(x86_cpu_spec_parse("+pmu", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_apply(&spec, &table, &e), -ENOTSUP);
	assert_string_equal(e.text, "--cpu: this machine's KVM does not offer pmu");
	/* Taking away what is not there is no wish that fails. */
	assert_int_equal(x86_cpu_spec_parse("-pcid,-avx", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_apply(&spec, &table, &e), 0);
}

static void what_a_demanded_feature_needs_is_demanded(void **state)
{
	assert_int_equal(x86_cpu_spec_parse("+avx2", &spec, &e), 0);
	memset(&table, 0, sizeof(table));
	assert_int_equal(x86_cpu_spec_apply(&spec, &table, &e), -ENOTSUP);
	assert_string_equal(e.text, "--cpu: this machine's KVM does not offer xsave, avx, avx2");
}

static void counters_are_off_unless_asked_for(void **state)
{
	assert_int_equal(apply(NULL), 0);
	assert_int_equal(leaf_of(0xa, 0)->eax, 0);
	assert_int_equal(leaf_of(0xa, 0)->edx, 0);
	assert_false(has("perfctr-core"));
	assert_true(has("pcid"));
	assert_int_equal(apply("host,+pmu"), 0);
	assert_true(spec.pmu);
	assert_int_equal(leaf_of(0xa, 0)->eax, 0x08300402);
	assert_true(has("perfctr-core"));
	assert_int_equal(apply("host,-pmu"), 0);
	assert_false(spec.pmu);
	assert_int_equal(leaf_of(0xa, 0)->eax, 0);
}

static void a_specification_that_cannot_be_read_says_what_there_is(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"host,-pcidd", "'pcidd' is no feature; did you mean 'pcid'?"},
		{"host,-fsgsbas", "did you mean 'fsgsbase'?"},
		{"-qqqqqqqqqqqq", "'qqqqqqqqqqqq' is no feature; 'ringside run --cpu help'"},
		{"-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "is no feature; '"},
		{"-", "'' is no feature; '"},
		{"", "'' is no processor to start from; there are: host, x86-64-v1"},
		{"skylake", "'skylake' is no processor to start from"},
		{"host,pcid", "expected -FEATURE or +FEATURE, got 'pcid'"},
		{"host,", "expected -FEATURE or +FEATURE, got ''"},
		{"host,-pcid,host", "expected -FEATURE or +FEATURE, got 'host'"},
		{"+pcid,-pcid", "both +pcid and -pcid"},
		{"-pmu,+pmu", "both +pmu and -pmu"},
		{"-xsave,+avx2", "+avx2 needs avx, which is taken away"},
		{"x86-64-v2,+avx", "+avx needs xsave, which is taken away"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(x86_cpu_spec_parse(cases[i].text, &spec, &e), -EINVAL);
		assert_non_null(strstr(e.text, cases[i].said));
	}
}

static void qemu_gets_the_same_names(void **state)
{
	char text[X86_CPU_QEMU_MAX];

	assert_int_equal(x86_cpu_spec_parse(NULL, &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), 0);
	assert_string_equal(text, "");
	assert_int_equal(x86_cpu_spec_parse("host,-pcid,-fsgsbase", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), 0);
	assert_string_equal(text, ",-pcid,-fsgsbase,-invpcid");
	assert_int_equal(x86_cpu_spec_parse("host,+smep", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), 0);
	assert_string_equal(text, ",+smep,enforce");
	assert_int_equal(x86_cpu_spec_parse("host,+pmu", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), -ENOTSUP);
	assert_int_equal(x86_cpu_spec_parse("+flush-l1d", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), -ENOTSUP);
	assert_int_equal(x86_cpu_spec_parse("-flush-l1d", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), 0);
	assert_string_equal(text, "");
	/* The longest there is fits. */
	assert_int_equal(x86_cpu_spec_parse("x86-64-v1", &spec, &e), 0);
	assert_int_equal(x86_cpu_spec_qemu(&spec, text, &e), 0);
	assert_non_null(strstr(text, ",-xfd"));
}

static void the_fingerprint_tells_what_a_guest_can_do_and_nothing_else(void **state)
{
	uint64_t all, again;

	offer_all();
	all = x86_cpuid_print(&table);
	for (uint32_t i = 0; i < table.head.nent; i++) {
		struct kvm_cpuid_entry2 *x = &table.entries[i];

		if (x->function == 1) {
			x->ebx = 0x07040800;
			x->ecx |= 1u << 27;
			x->edx ^= 1u << 28;
		}
		x->ecx |= x->function == 7 && x->index == 0 ? 1u << 4 : 0;
		x->ebx += x->function == 0xd && x->index < 2 ? 64 : 0;
	}
	again = x86_cpuid_print(&table);
	assert_true(all == again);
	for (size_t i = 0; i < CPUID_PRINT_WORDS; i++) {
		const struct cpuid_print_word *w = &cpuid_print_words[i];

		offer_all();
		table.entries[table.head.nent++] =
			(struct kvm_cpuid_entry2){.function = 0xfffffff0};
		for (uint32_t j = 0; j < table.head.nent; j++) {
			struct kvm_cpuid_entry2 *x = &table.entries[j];

			if ((x->function == w->leaf && x->index == w->index) ||
			    x->function == 0xfffffff0) {
				x->function = w->leaf;
				x->index = w->index;
				(&x->eax)[w->reg] ^= 1u << 2;
				break;
			}
		}
		assert_true(x86_cpuid_print(&table) != all);
	}
}

static void registers_of_features_that_are_gone_are_cleared_where_the_host_has_them(void **state)
{
	struct kvm_msr_table msrs = {.head.nmsrs = 1,
				     .entries[0] = {.index = 0x1a0, .data = 1u << 18 | 1}};

	offer_all();
	assert_int_equal(x86_cpu_spec_parse("-arch-capabilities,-monitor,+pmu", &spec, &e), 0);
	x86_cpu_spec_msrs(&spec, &table, &msrs);
	assert_int_equal(msrs.head.nmsrs, 2);
	assert_int_equal(msrs.entries[0].data, 1);
	assert_int_equal(msrs.entries[1].index, 0x10a);
	assert_int_equal(msrs.entries[1].data, 0);
	memset(&table, 0, sizeof(table));
	msrs.head.nmsrs = 1;
	x86_cpu_spec_msrs(&spec, &table, &msrs);
	assert_int_equal(msrs.head.nmsrs, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_feature_is_one_bit_of_its_own_behind_what_it_needs),
		cmocka_unit_test(each_feature_can_be_taken_away_and_takes_only_what_needs_it),
		cmocka_unit_test(the_first_word_may_be_left_out_and_underscores_are_dashes),
		cmocka_unit_test(without_xsave_there_is_no_avx_and_no_state),
		cmocka_unit_test(state_components_go_with_their_features),
		cmocka_unit_test(a_baseline_keeps_what_is_for_kernels_and_takes_what_is_above_it),
		cmocka_unit_test(all_that_the_host_lacks_is_named),
		cmocka_unit_test(what_a_demanded_feature_needs_is_demanded),
		cmocka_unit_test(counters_are_off_unless_asked_for),
		cmocka_unit_test(a_specification_that_cannot_be_read_says_what_there_is),
		cmocka_unit_test(qemu_gets_the_same_names),
		cmocka_unit_test(the_fingerprint_tells_what_a_guest_can_do_and_nothing_else),
		cmocka_unit_test(
			registers_of_features_that_are_gone_are_cleared_where_the_host_has_them),
	};

	return cmocka_run_group_tests_name("arch_cpu_spec", tests, NULL, NULL);
}

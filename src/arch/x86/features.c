/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See cpu_spec.h. The table of features that --cpu can name. Bits: SDM 2A, CPUID; AMD APM 3,
 * appendix E. Levels: x86-64 psABI 1.0, table 3.1. What a feature needs: the sections of SDM 1 that
 * say how a program finds out whether it may be used, and KVM, which takes INVPCID from a guest
 * without PCID.
 */
#include "arch/x86/cpu_spec.h"

#define L1C(n, b, l, d)                     \
	{                                   \
		n, 1, 0, CPUID_ECX, b, l, d \
	}
#define L1D(n, b, l, d)                     \
	{                                   \
		n, 1, 0, CPUID_EDX, b, l, d \
	}
#define L7B(n, b, l, d)                     \
	{                                   \
		n, 7, 0, CPUID_EBX, b, l, d \
	}
#define L7C(n, b, l, d)                     \
	{                                   \
		n, 7, 0, CPUID_ECX, b, l, d \
	}
#define L7D(n, b, l, d)                     \
	{                                   \
		n, 7, 0, CPUID_EDX, b, l, d \
	}
#define L71A(n, b, l, d)                    \
	{                                   \
		n, 7, 1, CPUID_EAX, b, l, d \
	}
#define XSV(n, b)                                                 \
	{                                                         \
		n, 0xd, 1, CPUID_EAX, b, X86_LEVEL_ABOVE, "xsave" \
	}
#define AMDC(n, b, l, d)                             \
	{                                            \
		n, 0x80000001, 0, CPUID_ECX, b, l, d \
	}
#define AMDD(n, b, l, d)                             \
	{                                            \
		n, 0x80000001, 0, CPUID_EDX, b, l, d \
	}
#define AMD8(n, b)                                                     \
	{                                                              \
		n, 0x80000008, 0, CPUID_EBX, b, X86_LEVEL_SYSTEM, NULL \
	}
#define SVM(n, b)                                                       \
	{                                                               \
		n, 0x8000000a, 0, CPUID_EDX, b, X86_LEVEL_SYSTEM, "svm" \
	}
#define SYS X86_LEVEL_SYSTEM
#define TOP X86_LEVEL_ABOVE

/* What needs another stands behind it, so that one pass finds everything that goes with one. */
static const struct x86_feature features[] = {
	L1C("pni", 0, X86_LEVEL_2, NULL),
	L1C("pclmulqdq", 1, TOP, NULL),
	L1C("monitor", 3, SYS, NULL),
	L1C("vmx", 5, SYS, NULL),
	L1C("ssse3", 9, X86_LEVEL_2, "pni"),
	L1C("cx16", 13, X86_LEVEL_2, NULL),
	L1C("pcid", 17, SYS, NULL),
	L1C("sse4.1", 19, X86_LEVEL_2, "ssse3"),
	L1C("sse4.2", 20, X86_LEVEL_2, "sse4.1"),
	L1C("movbe", 22, X86_LEVEL_3, NULL),
	L1C("popcnt", 23, X86_LEVEL_2, NULL),
	L1C("tsc-deadline", 24, SYS, NULL),
	L1C("aes", 25, TOP, NULL),
	L1C("xsave", 26, X86_LEVEL_3, NULL),
	L1C("avx", 28, X86_LEVEL_3, "xsave"),
	L1C("fma", 12, X86_LEVEL_3, "avx"),
	L1C("f16c", 29, X86_LEVEL_3, "avx"),
	L1C("rdrand", 30, TOP, NULL),
	L1D("pge", 13, SYS, NULL),
	L1D("clflush", 19, TOP, NULL),
	L7B("fsgsbase", 0, SYS, NULL),
	L7B("tsc-adjust", 1, SYS, NULL),
	L7B("bmi1", 3, X86_LEVEL_3, NULL),
	L7B("hle", 4, TOP, NULL),
	L7B("avx2", 5, X86_LEVEL_3, "avx"),
	L7B("smep", 7, SYS, NULL),
	L7B("bmi2", 8, X86_LEVEL_3, NULL),
	L7B("erms", 9, TOP, NULL),
	L7B("invpcid", 10, SYS, "pcid"),
	L7B("rtm", 11, TOP, NULL),
	L7B("mpx", 14, TOP, "xsave"),
	L7B("avx512f", 16, X86_LEVEL_4, "avx2"),
	L7B("avx512dq", 17, X86_LEVEL_4, "avx512f"),
	L7B("rdseed", 18, TOP, NULL),
	L7B("adx", 19, TOP, NULL),
	L7B("smap", 20, SYS, NULL),
	L7B("avx512ifma", 21, TOP, "avx512f"),
	L7B("clflushopt", 23, TOP, NULL),
	L7B("clwb", 24, TOP, NULL),
	L7B("avx512cd", 28, X86_LEVEL_4, "avx512f"),
	L7B("sha-ni", 29, TOP, NULL),
	L7B("avx512bw", 30, X86_LEVEL_4, "avx512f"),
	L7B("avx512vl", 31, X86_LEVEL_4, "avx512f"),
	L7C("avx512vbmi", 1, TOP, "avx512f"),
	L7C("umip", 2, SYS, NULL),
	L7C("pku", 3, TOP, "xsave"),
	L7C("waitpkg", 5, TOP, NULL),
	L7C("avx512vbmi2", 6, TOP, "avx512f"),
	L7C("gfni", 8, TOP, NULL),
	L7C("vaes", 9, TOP, "avx"),
	L7C("vpclmulqdq", 10, TOP, "avx"),
	L7C("avx512vnni", 11, TOP, "avx512f"),
	L7C("avx512bitalg", 12, TOP, "avx512f"),
	L7C("avx512-vpopcntdq", 14, TOP, "avx512f"),
	L7C("la57", 16, SYS, NULL),
	L7C("rdpid", 22, TOP, NULL),
	L7C("bus-lock-detect", 24, SYS, NULL),
	L7C("cldemote", 25, TOP, NULL),
	L7C("movdiri", 27, TOP, NULL),
	L7C("movdir64b", 28, TOP, NULL),
	L7D("fsrm", 4, TOP, NULL),
	L7D("avx512-vp2intersect", 8, TOP, "avx512f"),
	L7D("md-clear", 10, SYS, NULL),
	L7D("serialize", 14, TOP, NULL),
	L7D("tsx-ldtrk", 16, TOP, "rtm"),
	L7D("avx512-fp16", 23, TOP, "avx512bw"),
	L7D("amx-tile", 24, TOP, "xsave"),
	L7D("amx-bf16", 22, TOP, "amx-tile"),
	L7D("amx-int8", 25, TOP, "amx-tile"),
	L7D("spec-ctrl", 26, SYS, NULL),
	L7D("stibp", 27, SYS, NULL),
	L7D("flush-l1d", 28, SYS, NULL),
	L7D("arch-capabilities", 29, SYS, NULL),
	L7D("ssbd", 31, SYS, "spec-ctrl"),
	L71A("avx-vnni", 4, TOP, "avx2"),
	L71A("avx512-bf16", 5, TOP, "avx512f"),
	XSV("xsaveopt", 0),
	XSV("xsavec", 1),
	XSV("xgetbv1", 2),
	XSV("xsaves", 3),
	XSV("xfd", 4),
	AMDC("lahf-lm", 0, X86_LEVEL_2, NULL),
	AMDC("svm", 2, SYS, NULL),
	AMDC("abm", 5, X86_LEVEL_3, NULL),
	AMDC("sse4a", 6, TOP, NULL),
	AMDC("3dnowprefetch", 8, TOP, NULL),
	AMDC("xop", 11, TOP, "avx"),
	AMDC("fma4", 16, TOP, "avx"),
	AMDC("tbm", 21, TOP, NULL),
	AMDC("topoext", 22, SYS, NULL),
	AMDC("perfctr-core", 23, SYS, NULL),
	AMDD("nx", 20, SYS, NULL),
	AMDD("pdpe1gb", 26, SYS, NULL),
	AMDD("rdtscp", 27, TOP, NULL),
	{"invtsc", 0x80000007, 0, CPUID_EDX, 8, SYS, NULL},
	AMD8("clzero", 0),
	AMD8("xsaveerptr", 2),
	AMD8("wbnoinvd", 9),
	AMD8("ibpb", 12),
	AMD8("ibrs", 14),
	AMD8("amd-stibp", 15),
	AMD8("amd-ssbd", 24),
	AMD8("virt-ssbd", 25),
	AMD8("amd-no-ssb", 26),
	SVM("npt", 0),
	SVM("nrip-save", 3),
	SVM("vgif", 16),
};

_Static_assert(sizeof(features) / sizeof(features[0]) <= X86_FEATURES_MAX, "room for all");

/**
 * x86_features() - all features that a specification can name
 * @ret_count: set: how many
 *
 * Return: the table; what needs another stands behind it.
 * Context: any thread.
 */
const struct x86_feature *x86_features(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(features);
	return features;
}

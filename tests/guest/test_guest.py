# SPDX-License-Identifier: GPL-2.0-or-later
"""Every image under QEMU, on one CPU and on four: the NOPTI suite, what the page tables say, the
stress, and the kernel's own x86 selftests, unflagged and flagged. Each boot runs all of its programs
and is looked at by several tests."""
import subjects

NO_CAPS = "no file system here keeps file capabilities: Operation not supported"
TWO_CPUS = "this needs two CPUs"

# Which cases of the NOPTI suite are right on every kernel, and so run on all.
EVERYWHERE = {
    "the prctl answers as this kernel should", "a 32-bit program, and a request that reaches it",
    "32-bit system calls by int80", "a local descriptor table", "the vsyscall page", "signals",
    "a storm of timer signals", "exceptions", "single steps over system calls",
    "ptrace of a flagged task", "a breakpoint that the kernel runs into", "a storm of perf samples",
    "a storm of NMIs in user code", "a storm of NMIs from another CPU",
    "unmapping reaches flagged threads on all CPUs",
}
SMP = {
    "a storm of NMIs from another CPU", "flagged threads on every CPU", "a storm of migrations",
    "unmapping reaches flagged threads on all CPUs",
}


def with_pti(subject):
    return subject.pti


def failed(result):
    return [f"{path}: {'; '.join(leaf.notes)} {leaf.directive}" for path, leaf in result.leaves()
            if not leaf.ok]


def test_the_guest_ends_by_itself_and_its_console_is_clean(subject, outcome):
    assert not outcome.problem, outcome.explain()
    # test_run's own status: 1 when a program failed, a known flaw included.
    assert outcome.status in (0, 1), outcome.explain()
    assert outcome.wrong_lines() == []
    assert [r.name for r in outcome.results] == [p.name for p in subject.programs()]


def test_the_nopti_suite_passes(subject, outcome):
    assert failed(outcome.program("nopti")) == []


def test_the_nopti_suite_skips_exactly_what_cannot_be_there(subject, outcome):
    word = subject.expected()
    cases = {leaf.name: leaf for leaf in outcome.program("nopti").children}
    assert EVERYWHERE | SMP <= set(cases)
    expected = {}
    for name in cases:
        if word != "on" and name not in EVERYWHERE:
            expected[name] = {"none": "this kernel has no NOPTI",
                              "off": "page table isolation is off"}[word]
        elif subject.cpus == 1 and name in SMP:
            expected[name] = TWO_CPUS
    if word == "on":
        expected["ENODEV with page table isolation off"] = "page table isolation is on"
        if "CONFIG_TMPFS_XATTR=y" not in subjects.config_of(subject.image):
            expected["never across an exec of a file with capabilities"] = NO_CAPS
    elif word == "off":
        del expected["ENODEV with page table isolation off"]
    assert {name: leaf.reason for name, leaf in cases.items() if leaf.skipped} == expected


def test_page_tables_isolate_the_unflagged_alone(subject, outcome):
    result = outcome.program("isolation")
    assert failed(result) == []
    reasons = {leaf.reason for leaf in result.children if leaf.skipped}
    if subject.expected() == "none":
        assert reasons == {"this kernel has no NOPTI"}
    elif not subject.has_dump():
        assert reasons == {"this image has no pti_dump"}
    else:
        assert reasons == set()


def test_everything_at_once(subject, outcome):
    result = outcome.program("stress")
    assert failed(result) == []
    notes = [note for leaf in result.children for note in leaf.notes if "unflagged" in note]
    assert len(notes) == 12, notes


def test_the_kernels_own_selftests_pass_but_for_the_emulators_flaws(subject, outcome):
    names = subject.selftests()
    assert len(names) > 35
    ways = ["selftest"] + (["flagged"] if subject.expected() == "on" else [])
    results = {r.name: r for r in outcome.results}
    bad = {f"{way}.{n}" for way in ways for n in names if not results[f"{way}.{n}"].ok}
    known = {f"{way}.{n}" for way in ways for n in names if n in subjects.KNOWN}
    assert bad - known == set(), {n: results[n].notes[-8:] for n in bad - known}
    assert known - bad == set(), "passes though it is listed as failing"
    assert not [r.name for r in outcome.results if r.skipped]


for about_pti in (test_page_tables_isolate_the_unflagged_alone, test_everything_at_once,
             test_the_kernels_own_selftests_pass_but_for_the_emulators_flaws):
    about_pti.chosen = with_pti

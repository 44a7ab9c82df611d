#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold src/stats against scipy and numpy on random data.

usage: compare.py ASK   (the program made from ask.c)
Exits with 77 where scipy is not installed. The data come from a fixed seed.
"""
import itertools
import math
import subprocess
import sys

try:
    import numpy as np
    from scipy import special, stats
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-scipy)")
    sys.exit(77)

# scipy 1.10 is that far off: t.ppf(.9995, 1) is 636.6192494, not tan(.4995 pi) = 636.6192488
T_PPF = 1e-8

rng = np.random.default_rng(20260101)
cases = []  # (question, wanted numbers, relative tolerance)


def field(values):
    return " ".join(repr(float(v)) for v in values)


def ask(name, wanted, params=(), x=(), y=(), rel=1e-9):
    cases.append((f"{name} | {field(params)} | {field(x)} | {field(y)}", wanted, rel))


def sample(n, ties):
    """Skewed values, either all different or from a small set."""
    return rng.integers(0, 6, n).astype(float) if ties else rng.gamma(2.0, 10.0, n) - 15


def quantile_of_counts(counts, p):
    """The smallest q with P(V <= q) >= p, and P(V < q), from exact integer counts."""
    total, below = sum(counts), 0
    for q, count in enumerate(counts):
        if (below + count) / total >= p - 1e-12:
            return q, below / total
        below += count
    raise AssertionError


def cut(values, counts, p):
    """The order statistics that a rank statistic's quantile cuts off, and the level left."""
    k, below = quantile_of_counts(counts, p)
    if k == 0:
        k, below = 1, counts[0] / sum(counts)
    values = np.sort(values)
    return [np.median(values), values[k - 1], values[-k], 1 - 2 * below]


def signrank_counts(n):
    counts = [1]
    for rank in range(1, n + 1):
        grown = counts + [0] * rank
        for v, count in enumerate(counts):
            grown[v + rank] += count
        counts = grown
    return counts


def u_counts(n, m):
    counts = [0] * (n * m + 1)
    for chosen in itertools.combinations(range(n + m), n):
        counts[sum(chosen) - n * (n - 1) // 2] += 1
    return counts


def u_statistic(x, y, axis=-1):
    x, y = np.expand_dims(x, -1), np.expand_dims(y, -2)
    return ((x > y) + 0.5 * (x == y)).sum(axis=(-1, -2))


def one_sample(n, ties):
    x = sample(n, ties)
    ask("median", [np.median(x)], x=x)
    if n >= 2:
        t = stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)
        ask("mde", [t * np.std(x, ddof=1) / math.sqrt(n)], x=x, rel=T_PPF)
    walsh = [(x[i] + x[j]) / 2 for i in range(n) for j in range(i, n)]
    for level in (0.9, 0.95, 0.99):
        ask("hodges_lehmann", cut(walsh, signrank_counts(n), (1 - level) / 2), [level], x)
        ks = [k for k in range(1, (n + 1) // 2 + 1)
              if 1 - 2 * stats.binom.cdf(k - 1, n, 0.5) >= level - 1e-12]
        if ks:
            k, s = ks[-1], np.sort(x)
            wanted = [s[k - 1], s[-k], 1 - 2 * stats.binom.cdf(k - 1, n, 0.5)]
        else:
            wanted = [-math.inf, math.inf, 1]
        ask("median_interval", wanted, [level], x)
    if 2 <= n <= 12:
        p = stats.permutation_test((x,), lambda d, axis: d.sum(axis=axis), vectorized=True,
                                   permutation_type="samples", n_resamples=np.inf).pvalue
        ask("sign_flip", [p], [1], x)


def two_samples(n, m, ties):
    x, y = sample(n, ties), sample(m, ties)
    if len(set(x) | set(y)) == 1:
        return
    p = {}
    for alternative in ("less", "greater"):
        p[alternative] = stats.permutation_test(
            (x, y), u_statistic, vectorized=True, n_resamples=np.inf,
            alternative=alternative).pvalue
        if not ties:
            exact = stats.mannwhitneyu(x, y, alternative=alternative, method="exact").pvalue
            assert math.isclose(exact, p[alternative], rel_tol=1e-9)
    ask("mann_whitney", [float(u_statistic(x, y)), p["less"], p["greater"],
                         min(1, 2 * min(p.values()))], x=x, y=y)
    pairs = (y[None, :] - x[:, None]).ravel()
    for level in (0.9, 0.95):
        ask("shift", cut(pairs, u_counts(n, m), (1 - level) / 2), [level], x, y)


def many(n, m, ties):
    """Beyond 2,500 pairs: the normal approximation."""
    x, y = sample(n, ties), sample(m, ties) + 0.5
    p = [stats.mannwhitneyu(x, y, alternative=a, method="asymptotic").pvalue
         for a in ("less", "greater")]
    ask("mann_whitney", [float(u_statistic(x, y)), *p, min(1, 2 * min(p))], x=x, y=y)


def adjusted(p):
    n, order = len(p), np.argsort(p, kind="stable")
    holm, bh, s = np.empty(n), np.empty(n), p[order]
    holm[order] = np.minimum(1, np.maximum.accumulate(s * (n - np.arange(n))))
    bh[order] = np.minimum.accumulate((s * n / (np.arange(n) + 1))[::-1])[::-1]
    ask("holm", holm, x=p)
    ask("bh", np.minimum(1, bh), x=p)


def pettitt(x):
    u = [np.sign(x[t:, None] - x[None, :t]).sum() for t in range(1, len(x))]
    at = int(np.argmax(np.abs(u)))
    n, most = len(x), abs(u[at])
    return [at + 1, min(1, 2 * math.exp(-6 * most ** 2 / (n ** 3 + n ** 2))),
            np.median(x[at + 1:]) - np.median(x[:at + 1])]


def mann_kendall(x):
    n = len(x)
    score = np.sign(x[None, :] - x[:, None])[np.triu_indices(n, 1)].sum()
    ties = np.unique(x, return_counts=True)[1]
    var = n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()
    z = max(0, abs(score) - 1) / math.sqrt(var / 18)
    return [score / (n * (n - 1) / 2), min(1, 2 * stats.norm.sf(z))]


def shapes(n, ties):
    x, y = sample(n, ties), sample(n + 3, ties) + 1
    for q in (0.01, 0.1, 0.5, 0.9, 0.99):
        ask("harrell_davis", [(np.diff(special.betainc((n + 1) * q, (n + 1) * (1 - q),
                                                       np.arange(n + 1) / n)) * np.sort(x)).sum()],
            [q], x)
        ask("percentile", [np.percentile(x, 100 * q, method="inverted_cdf")], [q], x)
    d = stats.ks_2samp(x, y).statistic
    ask("ks", [d, special.kolmogorov(d * math.sqrt(n * (n + 3) / (2 * n + 3)))], x=x, y=y)
    if n >= 5 and len(set(x)) > 1:
        ask("trend", mann_kendall(x), x=x)
    if n >= 10 and len(set(x)) > 1:
        ask("change", pettitt(x), x=x)


def enumerated(n, level):
    """Every resample's mean; jackknife for the acceleration (Efron 1987)."""
    x = sample(n, False)
    means = np.sort([np.mean(c) for c in itertools.product(x, repeat=n)])
    slack = 1e-12 * (means[-1] - means[0])
    near = np.abs(means - x.mean()) <= slack
    z0 = stats.norm.ppf(((means < x.mean() - slack).sum() + near.sum() / 2) / len(means))
    left = np.array([np.delete(x, i).mean() for i in range(n)])
    off = left.mean() - left
    accel = (off ** 3).sum() / (6 * (off ** 2).sum() ** 1.5)
    ends = []
    for z in stats.norm.ppf([(1 - level) / 2, (1 + level) / 2]):
        at = stats.norm.cdf(z0 + (z0 + z) / (1 - accel * (z0 + z))) * len(means)
        ends.append(means[min(max(math.ceil(at) - 1, 0), len(means) - 1)])
    ask("bca_enumerated", [z0, accel, *ends], [level], x)


def nested(inner, middle, outer):
    x = rng.normal(size=(outer, middle, inner)) + rng.normal(size=(outer, middle, 1)) + 50
    s = [x.var(axis=2, ddof=1).mean(), x.mean(axis=2).var(axis=1, ddof=1).mean(),
         x.mean(axis=(1, 2)).var(ddof=1)]
    ask("levels", [x.mean(), *s, s[1] - s[0] / inner, s[2] - s[1] / middle],
        [inner, middle, outer], x.ravel())


for count in range(1, 41):
    shapes(count, False)
    shapes(count, True)
for count in range(2, 7):
    enumerated(count, 0.9)
    enumerated(count, 0.95)
for sizes in ((2, 2, 2), (5, 4, 3), (20, 6, 12)):
    nested(*sizes)
for x01 in (0, 1e-9, 0.1, 0.5, 0.9, 1):
    for ab in ((0.5, 0.5), (1, 3), (12, 2.5), (300, 200)):
        ask("beta_inc", [special.betainc(*ab, x01)], [x01, *ab])
for count, prob in itertools.product((0, 1, 6, 20, 200, 1000, 20000), (0.01, 0.05, 0.5, 0.9)):
    for level in (0.9, 0.95, 0.999):
        ask("binomial", [max(0, stats.binom.ppf((1 - level) / 2, count, prob)),
                         stats.binom.ppf((1 + level) / 2, count, prob)], [count, prob, level])
for prob in (1e-12, 0.001, 0.025, 0.5, 0.8, 0.999):
    ask("normal_quantile", [stats.norm.ppf(prob)], [prob])
for count in range(1, 31):
    one_sample(count, False)
    one_sample(count, True)
for a, b in itertools.product(range(2, 7), range(2, 7)):
    two_samples(a, b, False)
    two_samples(a, b, True)
many(60, 50, False)
many(60, 50, True)
many(2000, 30, True)
for df in (1, 1.5, 2, 5, 11, 23.5, 120, 4000):
    for prob in (1e-6, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9995):
        ask("t_quantile", [stats.t.ppf(prob, df)], [prob, df], rel=T_PPF)
    for at in (-40, -3, -0.1, 0, 0.7, 2, 9):
        ask("t_cdf", [stats.t.cdf(at, df)], [at, df])
for count in (1, 2, 5, 20):
    adjusted(rng.random(count) ** 3)
    adjusted(np.round(rng.random(count), 1))

answers = subprocess.run([sys.argv[1]], input="".join(q + "\n" for q, _, _ in cases), text=True,
                         capture_output=True, check=True).stdout.splitlines()
assert len(answers) == len(cases), f"{len(answers)} answers to {len(cases)} questions"
bad = 0
for (question, wanted, rel), line in zip(cases, answers):
    found = [] if line.startswith("error") else [float(v) for v in line.split()]
    if len(found) != len(wanted) or not all(
            math.isclose(f, w, rel_tol=rel, abs_tol=1e-11) for f, w in zip(found, wanted)):
        bad += 1
        print(f"{question[:200]}\n  found  {line}\n  wanted {[float(w) for w in wanted]}")
print(f"{len(cases)} questions, {bad} answered otherwise than by scipy and numpy")
sys.exit(1 if bad else 0)

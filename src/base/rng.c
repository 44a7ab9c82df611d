/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xoshiro256** 1.0, seeded through splitmix64, after the public-domain description by
 * D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators" (2018).
 */
#include "base/rng.h"

#include <assert.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/**
 * rng_init() - seed a generator
 * @r: the generator
 * @seed: any value
 *
 * Context: the thread that owns @r.
 */
void rng_init(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z;

		seed += UINT64_C(0x9e3779b97f4a7c15);
		z = seed;
		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		r->s[i] = z ^ (z >> 31);
	}
}

/**
 * rng_next() - draw 64 bits
 * @r: the generator
 *
 * Return: a number, uniform over all of uint64_t.
 * Context: the thread that owns @r.
 */
uint64_t rng_next(struct rng *r)
{
	uint64_t result = rotl(r->s[1] * 5, 7) * 9;
	uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotl(r->s[3], 45);
	return result;
}

/**
 * rng_below() - draw a number below a bound, without bias
 * @r: the generator
 * @bound: 1 or more
 *
 * Return: a number from 0 to @bound - 1, each equally likely.
 * Context: the thread that owns @r.
 */
uint64_t rng_below(struct rng *r, uint64_t bound)
{
	uint64_t floor;
	uint64_t x;

	assert(bound > 0);
	/* 2^64 mod bound: what lies below it would be drawn once too often. */
	floor = -bound % bound;
	do {
		x = rng_next(r);
	} while (x < floor);
	return x % bound;
}

/**
 * rng_unit() - draw a number from [0, 1)
 * @r: the generator
 *
 * Return: a multiple of 2^-53.
 * Context: the thread that owns @r.
 */
double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1.0p-53;
}

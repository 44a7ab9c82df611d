/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See comparison_merge.h. Main thread. */
#include "engine/comparison_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is being read, line by line. */
struct reader {
	struct merge_host *h;
	size_t file;
	uint64_t at;
};

static int on_line(void *ctx, size_t line, const char *text, size_t len, struct err *e)
{
	struct reader *x = ctx;
	struct merge_host *h = x->h;
	const struct merge_place here = {x->file, line, x->at, len};
	int r = comparison_add_line(&h->c, text, len, e);

	x->at += len + 1;
	if (r < 0) {
		return r;
	}
	if (line == 1) {
		h->places = calloc(h->c.plan.boot_count, sizeof(*h->places));
		return h->places ? 0 : err_set(e, -ENOMEM, "out of memory");
	}
	if (h->c.last_slot >= 0) {
		h->places[h->c.last_slot] = here;
	} else if (h->c.last_slot == COMPARISON_FLOORS) {
		h->floors = here;
	} else if (h->c.last_slot == COMPARISON_NOISE && !h->noise.line) {
		h->noise = here;
	}
	return 0;
}

/* One file twice would be read as two shards. */
static int check_file(struct merge *m, struct merge_file *f, struct err *e)
{
	if (stat(f->path, &f->st) < 0) {
		return err_errno(e, -errno, "%s", f->path);
	}
	/* It is read again when what was put together is written. */
	if (!S_ISREG(f->st.st_mode)) {
		return err_set(e, -EOPNOTSUPP, "%s: expected a regular file", f->path);
	}
	for (const struct merge_file *o = m->files; o < f; o++) {
		if (f->st.st_dev == o->st.st_dev && f->st.st_ino == o->st.st_ino) {
			return err_set(e, -EEXIST, "%s and %s are one file", o->path, f->path);
		}
	}
	return 0;
}

/* Which part of its plan a file has, in words. */
static const char *part_words(const struct merge_file *f, char *buf, size_t len)
{
	if (f->shards) {
		snprintf(buf, len, "shard %u of %u", f->shard, f->shards);
	} else {
		snprintf(buf, len, "all blocks");
	}
	return buf;
}

/* Files must be of one plan, parted in one way. */
static int check_plan(const struct merge *m, const struct merge_file *f, const char *found,
		      struct err *e)
{
	char words[2][48], why[ERR_TEXT_MAX];

	if (plan_check_same(m->hosts[0].c.plan_text, found, e) < 0) {
		snprintf(why, sizeof(why), "%s", e->text);
		return err_set(e, -EXDEV, "%s: line 1: %.700s as in %s", f->path, why,
			       m->files[0].path);
	}
	if (m->files[0].shards != f->shards) {
		return err_set(e, -EXDEV, "%s: line 1: it is of %s, and %s of %s", f->path,
			       part_words(f, words[0], sizeof(words[0])), m->files[0].path,
			       part_words(&m->files[0], words[1], sizeof(words[1])));
	}
	return 0;
}

/* Turns the comparison of a shard into one of all blocks, of which most are missing. */
static int make_whole(struct merge_host *h, struct err *e)
{
	struct comparison whole = {0};
	_cleanup_free_ char *line = NULL;
	int r = plan_whole_line(&h->c.plan, &line, e);

	if (r == 0) {
		r = comparison_add_line(&whole, line, strlen(line), e);
	}
	if (r < 0) {
		return r;
	}
	comparison_take(&whole, &h->c);
	comparison_fini(&h->c);
	h->c = whole;
	return 0;
}

/* Reads a file as a host of its own, for the moment. */
static int read_file(struct merge *m, size_t i, struct merge_host *h, struct err *e)
{
	struct merge_file *f = &m->files[i];
	struct reader x = {h, i, 0};
	struct results_scan scan;
	int r = check_file(m, f, e);

	if (r == 0) {
		r = results_read(f->path, on_line, &x, &scan, e);
	}
	if (r == 0 && !h->c.plan_text) {
		r = err_set(e, -ENODATA, "%s: there is no plan in it", f->path);
	}
	if (r < 0) {
		return r;
	}
	f->shard = h->c.plan.shard;
	f->shards = h->c.plan.shards;
	f->share = plan_share(&h->c.plan);
	f->recorded = h->c.done;
	f->dropped = scan.dropped;
	h->count = 1;
	r = make_whole(h, e);
	if (r == 0 && h->c.first) {
		snprintf(h->name, sizeof(h->name), "%s", h->c.first->host_name);
	}
	return r < 0 || i == 0 ? r : check_plan(m, f, h->c.plan_text, e);
}

/* Numbers of two classes or units are of different kinds, whatever the host. */
static int check_unit(const struct merge *m, const struct merge_host *h, struct err *e)
{
	const struct boot_record *mine = h->c.first;

	for (size_t i = 0; mine && i < m->host_count; i++) {
		const struct boot_record *other = m->hosts[i].c.first;
		const struct merge_place *here = &h->places[mine->slot];

		if (!other || (other->exec_class == mine->exec_class &&
			       other->ticks_per_unit == mine->ticks_per_unit)) {
			continue;
		}
		return err_set(e, -EXDEV,
			       "%s: line %zu: this boot's numbers are %s, %" PRIu64
			       " ticks a unit, those in %s are %s, %" PRIu64
			       ": there is no common unit",
			       m->files[here->file].path, here->line,
			       exec_class_name(mine->exec_class), mine->ticks_per_unit,
			       m->files[m->hosts[i].places[other->slot].file].path,
			       exec_class_name(other->exec_class), other->ticks_per_unit);
	}
	return 0;
}

static bool same_text(const struct merge *m, const struct merge_place *a,
		      const struct merge_place *b)
{
	const struct merge_place *places[2] = {a, b};
	char *text[2] = {NULL, NULL};
	bool same = a->len == b->len;

	for (int i = 0; same && i < 2; i++) {
		_cleanup_fclose_ FILE *f = fopen(m->files[places[i]->file].path, "re");

		text[i] = malloc(a->len + 1);
		same = f && text[i] && fseeko(f, (off_t)places[i]->at, SEEK_SET) == 0 &&
		       fread(text[i], 1, a->len, f) == a->len;
	}
	same = same && memcmp(text[0], text[1], a->len) == 0;
	free(text[0]);
	free(text[1]);
	return same;
}

/* A boot cannot have happened twice on one host. */
static int check_twice(const struct merge *m, const struct merge_host *h,
		       const struct merge_host *new, struct err *e)
{
	for (size_t slot = 0; slot < h->c.plan.boot_count; slot++) {
		const struct merge_place *a = &h->places[slot], *b = &new->places[slot];

		if (a->line && b->line) {
			return err_set(e, -EEXIST,
				       "%s: line %zu: boot %zu stands in line %zu of %s too, and "
				       "the two are %s",
				       m->files[b->file].path, b->line, slot, a->line,
				       m->files[a->file].path,
				       same_text(m, a, b) ? "equal" : "not equal");
		}
	}
	return 0;
}

/* The boots of a block stand side by side in the plan. */
static bool share_a_block(const struct merge_host *a, const struct merge_host *b)
{
	const struct plan *p = &a->c.plan;
	bool in[2] = {false, false};

	for (size_t slot = 0; slot < p->boot_count; slot++) {
		const struct schedule_boot *now = &p->boots[slot], *last = now - (slot > 0);

		if (now->group != last->group || now->block != last->block) {
			in[0] = in[1] = false;
		}
		in[0] |= a->places[slot].line > 0;
		in[1] |= b->places[slot].line > 0;
		if (in[0] && in[1]) {
			return true;
		}
	}
	return false;
}

/* Whether boots could be of one machine; @ret_slot is the first that could not. */
static bool are_alike(const struct merge_host *h, const struct merge_host *other, size_t *ret_slot,
		      struct err *why)
{
	for (size_t slot = 0; slot < h->c.plan.boot_count; slot++) {
		const struct boot_record *r = other->c.boots[slot];

		if (r && comparison_check_alike(&h->c, r, why) < 0) {
			*ret_slot = slot;
			return false;
		}
	}
	return true;
}

static void host_fini(struct merge_host *h)
{
	comparison_fini(&h->c);
	free(h->places);
}

static void join(struct merge_host *h, struct merge_host *from)
{
	for (size_t slot = 0; slot < h->c.plan.boot_count; slot++) {
		if (from->places[slot].line) {
			h->places[slot] = from->places[slot];
		}
	}
	if (!h->floors.line) {
		h->floors = from->floors;
	}
	if (!h->noise.line) {
		h->noise = from->noise;
	}
	if (!h->c.first) {
		snprintf(h->name, sizeof(h->name), "%s", from->name);
	}
	comparison_take(&h->c, &from->c);
	host_fini(from);
}

/* Puts a file to the others of its host. One without a boot that got far is anyone's. */
static int place_file(struct merge *m, struct merge_host *new, struct err *e)
{
	struct err why = ERR_INIT;
	int r = check_unit(m, new, e);
	size_t slot;

	for (size_t i = 0; r == 0 && i < m->host_count; i++) {
		struct merge_host *h = &m->hosts[i];

		if (new->c.first && h->c.first &&strcmp(h->name, new->name) != 0) {
			continue;
		}
		if (!are_alike(h, new, &slot, &why)) {
			return err_set(e, -EXDEV, "%s: line %zu: %s",
				       m->files[new->places[slot].file].path,
				       new->places[slot].line, why.text);
		}
		r = check_twice(m, h, new, e);
		if (r == 0) {
			join(h, new);
		}
		return r;
	}
	if (r == 0) {
		m->hosts[m->host_count++] = *new;
	}
	return r;
}

/* Hosts that are alike and have parted the blocks among them are one comparison. */
static void pool_hosts(struct merge *m)
{
	struct err why = ERR_INIT;
	size_t slot;

	for (size_t i = 0; i < m->host_count; i++) {
		for (size_t k = i + 1; k < m->host_count;) {
			struct merge_host *h = &m->hosts[i];
			struct merge_host from = m->hosts[k];

			if (share_a_block(h, &from) || !are_alike(h, &from, &slot, &why)) {
				k++;
				continue;
			}
			h->count += from.count;
			join(h, &from);
			m->host_count--;
			memmove(&m->hosts[k], &m->hosts[k + 1],
				(m->host_count - k) * sizeof(*m->hosts));
		}
	}
}

/* Which host each file went to. */
static void note_hosts(struct merge *m)
{
	for (size_t i = 0; i < m->host_count; i++) {
		const struct merge_host *h = &m->hosts[i];

		for (size_t slot = 0; slot < h->c.plan.boot_count; slot++) {
			if (h->places[slot].line) {
				m->files[h->places[slot].file].host = i;
			}
		}
	}
}

/**
 * merge_read() - read results files and put them together
 * @m: all zero; end it with merge_fini(), also on failure
 * @paths: the files; kept
 * @n: how many, 1 or more
 * @e: set on failure, names file and line
 *
 * Return: 0; -EXDEV for what does not belong together; -EEXIST for what is there twice; else as
 * comparison_read().
 * Context: main thread.
 */
int merge_read(struct merge *m, char *const *paths, size_t n, struct err *e)
{
	int r = 0;

	m->files = calloc(n, sizeof(*m->files));
	m->hosts = calloc(n, sizeof(*m->hosts));
	if (!m->files || !m->hosts) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (m->file_count = 0; r == 0 && m->file_count < n; m->file_count++) {
		struct merge_host new = {0};

		m->files[m->file_count].path = paths[m->file_count];
		r = read_file(m, m->file_count, &new, e);
		if (r == 0) {
			r = place_file(m, &new, e);
		}
		if (r < 0) {
			host_fini(&new);
		}
	}
	if (r < 0) {
		return r;
	}
	pool_hosts(m);
	note_hosts(m);
	return 0;
}

static int copy_line(const struct merge *m, FILE *const *in, const struct merge_place *place,
		     FILE *out, struct err *e)
{
	const char *path = m->files[place->file].path;
	_cleanup_free_ char *text = malloc(place->len + 1);

	if (!text) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (fseeko(in[place->file], (off_t)place->at, SEEK_SET) < 0 ||
	    fread(text, 1, place->len + 1, in[place->file]) != place->len + 1) {
		return err_set(e, -EIO, "%s: line %zu cannot be read again", path, place->line);
	}
	return fwrite(text, 1, place->len + 1, out) == place->len + 1
		       ? 0
		       : err_set(e, -EIO, "the results cannot be written");
}

static int copy_all(const struct merge *m, FILE *const *in, FILE *out, struct err *e)
{
	const struct merge_host *h = &m->hosts[0];
	int r = fprintf(out, "%s\n", h->c.plan_text) < 0
			? err_set(e, -EIO, "the results cannot be written")
			: 0;

	if (r == 0 && h->floors.line) {
		r = copy_line(m, in, &h->floors, out, e);
	}
	for (size_t slot = 0; r == 0 && slot < h->c.plan.boot_count; slot++) {
		if (h->places[slot].line) {
			r = copy_line(m, in, &h->places[slot], out, e);
		}
	}
	if (r == 0 && h->noise.line) {
		r = copy_line(m, in, &h->noise, out, e);
	}
	return r == 0 && fflush(out) == EOF ? err_set(e, -EIO, "the results cannot be written") : r;
}

/**
 * merge_write() - write what was put together as a results file of its own
 * @m: of one comparison: m->host_count is 1
 * @out: where to
 * @e: set on failure
 *
 * Its boots are in the order of the plan, each line as it was. A boot that the machine failed, and
 * that was to be done again, is not in it.
 *
 * Return: 0, -ENOMEM, -EIO, or the errno of opening a file again.
 * Context: main thread.
 */
int merge_write(const struct merge *m, FILE *out, struct err *e)
{
	FILE **in = calloc(m->file_count, sizeof(FILE *));
	int r = in ? 0 : err_set(e, -ENOMEM, "out of memory");

	for (size_t i = 0; r == 0 && i < m->file_count; i++) {
		in[i] = fopen(m->files[i].path, "re");
		if (!in[i]) {
			r = err_errno(e, -errno, "%s", m->files[i].path);
		}
	}
	if (r == 0) {
		r = copy_all(m, in, out, e);
	}
	for (size_t i = 0; in && i < m->file_count; i++) {
		if (in[i]) {
			fclose(in[i]);
		}
	}
	free(in);
	return r;
}

/**
 * merge_fini() - free what a merge holds
 * @m: the merge; all zero or half read is fine
 *
 * Context: main thread.
 */
void merge_fini(struct merge *m)
{
	for (size_t i = 0; m->hosts && i < m->host_count; i++) {
		host_fini(&m->hosts[i]);
	}
	free(m->hosts);
	free(m->files);
	*m = (struct merge){0};
}

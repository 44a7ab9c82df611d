/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See arm.h. Pure; any thread. */
#include "engine/arm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Takes one field up to the next comma. "\," and "\\" stand for a comma and a backslash; any other
 * backslash is kept, as kernel parameters may hold them.
 */
static const char *take_field(const char *p, char *ret_field, bool *ret_more)
{
	while (*p && *p != ',') {
		if (*p == '\\' && (p[1] == ',' || p[1] == '\\')) {
			p++;
		}
		*ret_field++ = *p++;
	}
	*ret_field = '\0';
	*ret_more = *p == ',';
	return *ret_more ? p + 1 : p;
}

static const char *const task_names[] = {[ARM_TASK_NOPTI] = "nopti"};

/**
 * arm_task_name() - how a kind of task is written
 * @t: the kind
 *
 * Return: a constant text, or NULL for a plain one, which is not written.
 * Context: any thread.
 */
const char *arm_task_name(enum arm_task t)
{
	return task_names[t];
}

/**
 * arm_task_parse() - read a kind of task
 * @name: as written
 * @ret: set on success
 *
 * Return: 0, or -EINVAL for a kind that there is not.
 * Context: any thread.
 */
int arm_task_parse(const char *name, enum arm_task *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(task_names); i++) {
		if (task_names[i] && strcmp(task_names[i], name) == 0) {
			*ret = (enum arm_task)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* An arm that is being read. */
struct reading {
	const char *option, *text;
	char *append; /* room for as much as the whole text */
	char *cpu;    /* likewise */
	enum arm_task task;
};

static int take_append(struct reading *r, const char *value, struct err *e)
{
	sprintf(r->append + strlen(r->append), "%s%s", *r->append ? " " : "", value);
	return 0;
}

static int take_cpu(struct reading *r, const char *value, struct err *e)
{
	sprintf(r->cpu + strlen(r->cpu), "%s%s", *r->cpu ? "," : "", value);
	return 0;
}

static int take_task(struct reading *r, const char *value, struct err *e)
{
	if (r->task != ARM_TASK_PLAIN) {
		return err_set(e, -EINVAL, "%s '%s': task= is there twice", r->option, r->text);
	}
	if (arm_task_parse(value, &r->task) < 0) {
		return err_set(e, -EINVAL, "%s '%s': '%s' is no kind of task; there is: nopti",
			       r->option, r->text, value);
	}
	return 0;
}

/* One "name=value". */
static int take_property(struct reading *r, const char *field, struct err *e)
{
	static const struct {
		const char *name;
		int (*take)(struct reading *r, const char *value, struct err *e);
	} properties[] = {{"append", take_append}, {"cpu", take_cpu}, {"task", take_task}};
	size_t len = strcspn(field, "=");

	if (!field[len]) {
		return err_set(
			e, -EINVAL,
			"%s '%s': expected append=TEXT, cpu=SPEC or task=KIND, got '%s' (a comma "
			"inside a value is written '\\,')",
			r->option, r->text, field);
	}
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		if (strlen(properties[i].name) != len ||
		    strncmp(properties[i].name, field, len) != 0) {
			continue;
		}
		return field[len + 1] ? properties[i].take(r, field + len + 1, e)
				      : err_set(e, -EINVAL, "%s '%s': %s= is empty", r->option,
						r->text, properties[i].name);
	}
	return err_set(e, -EINVAL,
		       "%s '%s': '%.*s' is no property of an arm; there are: append, cpu, task",
		       r->option, r->text, (int)len, field);
}

/**
 * arm_parse() - read an arm
 * @option: the option it was given to, such as "--a", for messages
 * @text: the arm
 * @ret: set on success; end it with arm_fini()
 * @e: set on failure
 *
 * Return: 0, -EINVAL or -ENOMEM.
 * Context: any thread.
 */
int arm_parse(const char *option, const char *text, struct arm *ret, struct err *e)
{
	size_t room = strlen(text) + 1;
	_cleanup_free_ char *field = malloc(room);
	_cleanup_free_ char *kernel = malloc(room);
	_cleanup_free_ char *append = calloc(1, room);
	_cleanup_free_ char *cpu = calloc(1, room);
	struct reading reading = {.option = option, .text = text, .append = append, .cpu = cpu};
	const char *p = text;
	bool more;

	if (!field || !kernel || !append || !cpu) {
		return err_set(e, -ENOMEM, "%s: out of memory", option);
	}
	p = take_field(p, kernel, &more);
	if (!*kernel) {
		return err_set(e, -EINVAL,
			       "%s '%s': the kernel is missing; an arm is "
			       "KERNEL[,append=TEXT]...[,cpu=SPEC]...[,task=KIND]",
			       option, text);
	}
	while (more) {
		int r;

		p = take_field(p, field, &more);
		r = take_property(&reading, field, e);
		if (r < 0) {
			return r;
		}
	}
	ret->kernel = TAKE_PTR(kernel);
	ret->append = TAKE_PTR(append);
	ret->cpu = *cpu ? TAKE_PTR(cpu) : NULL;
	ret->task = reading.task;
	return 0;
}

/* Writes a value so that take_field() reads it. */
static void put_field(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s", name);
	for (; *value; value++) {
		if (*value == ',' || *value == '\\') {
			fputc('\\', out);
		}
		fputc(*value, out);
	}
}

/**
 * arm_text() - write an arm so that arm_parse() reads it back
 * @a: the arm
 *
 * Return: the text, the caller's to free; NULL without memory.
 * Context: any thread.
 */
char *arm_text(const struct arm *a)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		return NULL;
	}
	put_field(out, "", a->kernel);
	if (*a->append) {
		put_field(out, ",append=", a->append);
	}
	if (a->cpu) {
		put_field(out, ",cpu=", a->cpu);
	}
	if (a->task != ARM_TASK_PLAIN) {
		put_field(out, ",task=", arm_task_name(a->task));
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/**
 * arm_fini() - free what an arm holds
 * @a: the arm; all zero is fine
 *
 * Context: any thread.
 */
void arm_fini(struct arm *a)
{
	free(a->kernel);
	free(a->append);
	free(a->cpu);
	*a = (struct arm){0};
}

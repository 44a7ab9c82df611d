/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "guest/job.h"

static const char *const command[] = {"sh", "-c", "echo \"\xc3\xa4\n\"", NULL};

static void a_job_is_written_with_its_keys_in_order(void **state)
{
	const char *env[] = {"A=1", "B=x=y", NULL};
	const char *names[] = {"syscall.null", "ctxsw", NULL};
	const char *rw[] = {"/out", NULL};
	struct job job = {
		.command = (const char **)command,
		.env = env,
		.bench = {.names = names, .batches = 30, .warmup = 3, .calltime = true, .seed = 9},
		.lab = {.cwd = "/w", .rw = rw},
	};
	_cleanup_free_ char *text = NULL;
	struct err e = ERR_INIT;
	size_t len;

	assert_int_equal(job_write(&job, &text, &len, &e), 0);
	assert_string_equal(
		text, "{\"version\":1,\"command\":[\"sh\",\"-c\",\"echo \\\"\xc3\xa4\\n\\\"\"],"
		      "\"env\":{\"A\":\"1\",\"B\":\"x=y\"},\"cwd\":\"/\","
		      "\"bench\":{\"names\":[\"syscall.null\",\"ctxsw\"],\"batches\":30,"
		      "\"warmup\":3,\"calls\":0,\"calltime\":true,\"nopti\":false,\"seed\":9},"
		      "\"lab\":{\"cwd\":\"/w\",\"rw\":[\"/out\"]}}");
	assert_int_equal(len, strlen(text));
}

static void artifacts_are_read_back_the_same(void **state)
{
	const char *paths[] = {"/var/log", "/out", NULL}, *relative[] = {"out", NULL};
	struct job job = {.command = (const char **)command, .artifacts = paths};
	_cleanup_free_ char *text = NULL;
	struct err e = ERR_INIT;
	struct job got;
	size_t len;

	assert_int_equal(job_write(&job, &text, &len, &e), 0);
	assert_int_equal(job_read(text, len, &got, &e), 0);
	assert_string_equal(got.artifacts[0], "/var/log");
	assert_string_equal(got.artifacts[1], "/out");
	assert_null(got.artifacts[2]);
	job_fini(&got);
	job.artifacts = relative;
	free(TAKE_PTR(text));
	assert_int_equal(job_write(&job, &text, &len, &e), -EINVAL);
	assert_string_equal(e.text, "job: artifact 'out', expected an absolute path");
}

static void networks_are_read_back_the_same(void **state)
{
	struct job job = {
		.command = (const char **)command,
		.nets = {{.mac = "02:00:00:00:00:01", .address = "192.0.2.2/24"},
			 {.mac = "02:00:00:00:00:02",
			  .address = "10.0.2.15/24",
			  .gateway = "10.0.2.2",
			  .dns = "10.0.2.3"}},
		.net_count = 2,
	};
	_cleanup_free_ char *text = NULL;
	struct err e = ERR_INIT;
	struct job got;
	size_t len;

	assert_int_equal(job_write(&job, &text, &len, &e), 0);
	assert_int_equal(job_read(text, len, &got, &e), 0);
	assert_int_equal(got.net_count, 2);
	assert_string_equal(got.nets[0].mac, "02:00:00:00:00:01");
	assert_string_equal(got.nets[0].address, "192.0.2.2/24");
	assert_null(got.nets[0].gateway);
	assert_null(got.nets[0].dns);
	assert_string_equal(got.nets[1].gateway, "10.0.2.2");
	assert_string_equal(got.nets[1].dns, "10.0.2.3");
	job_fini(&got);
}

static void networks_that_are_none_are_refused(void **state)
{
#define JOB_WITH_NET(x) "{\"version\":1,\"command\":[\"a\"],\"net\":" x "}"
	static const char *const rows[][2] = {
		{JOB_WITH_NET("{}"), "job: 'net' is no list of at most 4 networks"},
		{JOB_WITH_NET("[0,0,0,0,0]"), "job: 'net' is no list of at most 4 networks"},
		{JOB_WITH_NET("[0]"), "job: 'net' has an entry without 'mac' or 'address'"},
		{JOB_WITH_NET("[{\"mac\":\"02:00:00:00:00:001\",\"address\":\"a\"}]"),
		 "job: 'net' has an entry without 'mac' or 'address'"},
		{JOB_WITH_NET("[{\"mac\":\"02:00:00:00:00:01\"}]"),
		 "job: 'net' has an entry without 'mac' or 'address'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct job got;

		assert_int_equal(job_read(rows[i][0], strlen(rows[i][0]), &got, &e), -EINVAL);
		assert_string_equal(e.text, rows[i][1]);
	}
}

static void what_is_written_is_read_back_the_same(void **state)
{
	const char *env[] = {"A=1", "B=x=y", NULL};
	const char *names[] = {"syscall.null", NULL};
	const char *rw[] = {"/a", "/b", NULL};
	struct job job = {
		.command = (const char **)command,
		.env = env,
		.cwd = "/tmp",
		.beat_ms = JOB_BEAT_MAX_MS,
		.bench = {.names = names,
			  .batches = JOB_BATCHES_MAX,
			  .calls = JOB_CALLS_MAX,
			  .nopti = true,
			  .seed = INT64_MAX},
		.lab = {.cwd = "/w", .rw = rw},
	};
	_cleanup_free_ char *text = NULL;
	struct err e = ERR_INIT;
	struct job got;
	size_t len;

	assert_int_equal(job_write(&job, &text, &len, &e), 0);
	assert_int_equal(job_read(text, len, &got, &e), 0);
	for (size_t i = 0; i < 4; i++) {
		if (command[i]) {
			assert_string_equal(got.command[i], command[i]);
		} else {
			assert_null(got.command[i]);
		}
	}
	assert_string_equal(got.env[0], "A=1");
	assert_string_equal(got.env[1], "B=x=y");
	assert_null(got.env[2]);
	assert_string_equal(got.cwd, "/tmp");
	assert_int_equal(got.beat_ms, JOB_BEAT_MAX_MS);
	assert_string_equal(got.bench.names[0], "syscall.null");
	assert_null(got.bench.names[1]);
	assert_int_equal(got.bench.batches, JOB_BATCHES_MAX);
	assert_int_equal(got.bench.warmup, 0);
	assert_int_equal(got.bench.calls, JOB_CALLS_MAX);
	assert_false(got.bench.calltime);
	assert_true(got.bench.nopti);
	assert_true(got.bench.seed == INT64_MAX);
	assert_string_equal(got.lab.cwd, "/w");
	assert_string_equal(got.lab.rw[1], "/b");
	assert_null(got.lab.rw[2]);
	job_fini(&got);
}

static void a_job_that_makes_no_sense_is_refused_when_it_is_written(void **state)
{
	const char *names[] = {"x", NULL};
	const char *empty[] = {NULL};
	const char *latin1[] = {"\xe4", NULL};
	const char *bad_env[] = {"NAME", NULL};
	const char *relative[] = {"a", NULL};
	const struct {
		struct job job;
		const char *text;
	} rows[] = {
		{{0}, "job: neither a command nor a benchmark"},
		{{.command = empty}, "job: the command is empty"},
		{{.command = latin1}, "job: a word or path in it is not UTF-8 text"},
		{{.command = names, .env = bad_env}, "environment: 'NAME': expected NAME=value"},
		{{.command = names, .cwd = "x"},
		 "job: working directory 'x', expected an absolute path"},
		{{.command = names, .lab = {.cwd = "x"}},
		 "job: lab directory 'x', expected an absolute path"},
		{{.command = names, .lab = {.cwd = "/", .rw = relative}},
		 "job: share 'a', expected an absolute path"},
		{{.bench = {.names = names}}, "job: 0 batches, expected 1 to 100000"},
		{{.bench = {.names = names, .batches = JOB_BATCHES_MAX + 1}},
		 "job: 100001 batches, expected 1 to 100000"},
		{{.bench = {.names = names, .batches = 1, .calls = JOB_CALLS_MAX + 1}},
		 "job: 100000001 calls a batch, expected at most 100000000"},
		{{.bench = {.names = names, .batches = 1, .seed = 1ULL << 63}},
		 "job: seed 9223372036854775808, expected less than 2^63"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		char *text = NULL;
		size_t len;

		assert_int_equal(job_write(&rows[i].job, &text, &len, &e), -EINVAL);
		assert_string_equal(e.text, rows[i].text);
		assert_null(text);
	}
}

static void text_that_is_no_job_is_refused_by_the_agent(void **state)
{
	const struct {
		const char *text;
		int code;
		const char *says;
	} rows[] = {
		{"", -EINVAL, "job: no JSON object"},
		{"[]", -EINVAL, "job: no JSON object: something else"},
		{"{\"version\":1,", -EINVAL, "job: no JSON object: "},
		{"{}", -EPROTONOSUPPORT, "job: version 0, this agent knows 1"},
		{"{\"version\":2}", -EPROTONOSUPPORT, "job: version 2, this agent knows 1"},
		{"{\"version\":1}", -EINVAL, "job: neither a command nor a benchmark"},
		{"{\"version\":1,\"command\":[]}", -EINVAL,
		 "job: neither a command nor a benchmark"},
		{"{\"version\":1,\"command\":[1]}", -EINVAL,
		 "job: 'command' has an entry that is no text"},
		{"{\"version\":1,\"command\":[\"a\"],\"env\":[]}", -EINVAL, "job: 'env' is no"},
		{"{\"version\":1,\"command\":[\"a\"],\"lab\":{\"rw\":[]}}", -EINVAL,
		 "job: 'lab.cwd' is no absolute path"},
		{"{\"version\":1,\"bench\":{\"names\":[\"a\"],\"batches\":0}}", -EINVAL,
		 "job: 'batches' is no number from 1 to 100000"},
		{"{\"version\":1,\"bench\":{\"names\":[\"a\"],\"batches\":1,\"warmup\":-1}}",
		 -EINVAL, "job: 'warmup' is no number from 0 to 100000"},
		{"{\"version\":1,\"bench\":{\"names\":[\"a\"],\"batches\":1,\"warmup\":0,\"calls\":0,"
		 "\"seed\":0,\"calltime\":true,\"nopti\":1}}",
		 -EINVAL, "job: 'nopti' is neither true nor false"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct job job;

		assert_int_equal(job_read(rows[i].text, strlen(rows[i].text), &job, &e),
				 rows[i].code);
		assert_memory_equal(e.text, rows[i].says, strlen(rows[i].says));
	}
}

static void shares_and_root_are_read_back_the_same(void **state)
{
	const struct job_share shares[] = {{"share0", "/mnt/a", true}, {"share1", "/b", false}};
	const struct job_root roots[] = {
		{.share = "share2", .read_only = true},
		{.disk = "ringside-disk0", .init = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		struct job job = {.command = (const char **)command,
				  .shares = shares,
				  .share_count = ARRAY_SIZE(shares),
				  .root = roots[i]};
		_cleanup_free_ char *text = NULL;
		struct err e = ERR_INIT;
		struct job got;
		size_t len;

		assert_int_equal(job_write(&job, &text, &len, &e), 0);
		assert_int_equal(job_read(text, len, &got, &e), 0);
		assert_int_equal(got.share_count, 2);
		for (size_t n = 0; n < 2; n++) {
			assert_string_equal(got.shares[n].tag, shares[n].tag);
			assert_string_equal(got.shares[n].at, shares[n].at);
			assert_int_equal(got.shares[n].read_only, shares[n].read_only);
		}
		assert_int_equal(got.root.share != NULL, roots[i].share != NULL);
		assert_string_equal(got.root.share ? got.root.share : got.root.disk,
				    roots[i].share ? roots[i].share : roots[i].disk);
		assert_int_equal(got.root.read_only, roots[i].read_only);
		assert_int_equal(got.root.init, roots[i].init);
		job_fini(&got);
	}
}

static void shares_and_roots_that_are_none_are_refused(void **state)
{
	static const char *const bad[] = {
		"\"shares\":{}",
		"\"shares\":[{\"tag\":\"a\",\"at\":\"a\",\"ro\":true}]",
		"\"shares\":[{\"tag\":\"a\",\"at\":\"/a\"}]",
		"\"shares\":[{\"at\":\"/a\",\"ro\":true}]",
		"\"root\":{\"ro\":true,\"init\":false}",
		"\"root\":{\"share\":\"a\",\"disk\":\"b\",\"ro\":true,\"init\":false}",
		"\"root\":{\"share\":\"a\",\"init\":false}",
		"\"root\":{\"share\":\"a\",\"ro\":true}",
		"\"root\":[]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[256];
		struct err e = ERR_INIT;
		struct job got;

		snprintf(text, sizeof(text), "{\"version\":1,\"command\":[\"a\"],%s}", bad[i]);
		assert_int_equal(job_read(text, strlen(text), &got, &e), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_written_with_its_keys_in_order),
		cmocka_unit_test(what_is_written_is_read_back_the_same),
		cmocka_unit_test(artifacts_are_read_back_the_same),
		cmocka_unit_test(networks_are_read_back_the_same),
		cmocka_unit_test(networks_that_are_none_are_refused),
		cmocka_unit_test(a_job_that_makes_no_sense_is_refused_when_it_is_written),
		cmocka_unit_test(text_that_is_no_job_is_refused_by_the_agent),
		cmocka_unit_test(shares_and_root_are_read_back_the_same),
		cmocka_unit_test(shares_and_roots_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

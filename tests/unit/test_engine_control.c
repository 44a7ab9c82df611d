/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's end of "ringside ctl", with clients that behave and clients that do not. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "engine/control.h"
#include "engine/control_path.h"
#include "engine/control_wire.h"

static struct {
	bool frozen, stands, freeze_fails, local_types;
	unsigned int stops;
	char typed[65536];
	size_t typed_len, room;
} fake;

static struct evloop *loop;
static struct evloop_source *timer;
static unsigned int rounds_left; /* of the loop */
static struct control *control;
static struct control_socket sock;
static char folder[] = "/tmp/ringside-test-XXXXXX";

static json_t *status(void *ctx)
{
	return json_pack("{s:s}", "state", fake.stands ? "paused" : "running");
}

static int freeze(void *ctx, bool on, struct err *e)
{
	if (fake.freeze_fails) {
		return err_set(e, -ENOTSUP, "cannot");
	}
	fake.frozen = on;
	fake.stands &= on;
	return 0;
}

static bool stands(void *ctx)
{
	return fake.stands;
}

static void stop(void *ctx)
{
	fake.stops++;
}

static size_t type(void *ctx, const void *data, size_t len)
{
	size_t n = len < fake.room ? len : fake.room;

	assert_true(fake.typed_len + n <= sizeof(fake.typed));
	memcpy(fake.typed + fake.typed_len, data, n);
	fake.typed_len += n;
	fake.room -= n;
	return n;
}

static bool may_type(void *ctx)
{
	return !fake.local_types;
}

static const struct control_ops ops = {
	.status = status,
	.freeze = freeze,
	.stands = stands,
	.stop = stop,
	.type = type,
	.may_type = may_type,
};

static void on_timer(void *ctx)
{
	if (rounds_left-- > 1) {
		assert_int_equal(evloop_arm_timer(timer, 1, 0), 0);
	} else {
		evloop_stop(loop);
	}
}

static int setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.room = sizeof(fake.typed);
	assert_int_equal(control_socket_open("m", &sock, NULL), 0);
	assert_int_equal(evloop_create(&loop), 0);
	assert_int_equal(evloop_add_timer(loop, on_timer, NULL, &timer), 0);
	return control_create(loop, sock.fd, &ops, NULL, &control);
}

static int teardown(void **state)
{
	control_socket_close(&sock);
	control_destroy(control);
	evloop_destroy(loop);
	return 0;
}

static void run_rounds(unsigned int count)
{
	rounds_left = count;
	assert_int_equal(evloop_arm_timer(timer, 1, 0), 0);
	assert_int_equal(evloop_run(loop), 0);
}

/* Far more rounds than any answer takes. */
static void turn(void)
{
	run_rounds(64);
}

static int attach(void)
{
	int fd;

	assert_int_equal(control_connect("m", &fd, NULL), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void put(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	turn();
}

static void request(int fd, enum control_verb v)
{
	char line[CONTROL_LINE_MAX];

	control_request_write(v, line, sizeof(line));
	put(fd, line);
}

static char got[CONTROL_ANSWER_MAX];

/* All that has come; "" when nothing, "(end)" at the end. */
static const char *get(int fd)
{
	ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		return "(end)";
	}
	got[n < 0 ? 0 : n] = '\0';
	return got;
}

#define OK_RUNNING "{\"ringside\":1,\"ok\":true,\"state\":\"running\"}\n"
#define OK_PAUSED  "{\"ringside\":1,\"ok\":true,\"state\":\"paused\"}\n"

static void requests_are_answered_one_after_the_other(void **state)
{
	int fd = attach();

	request(fd, CONTROL_STATUS);
	assert_string_equal(get(fd), OK_RUNNING);
	put(fd, "{\"ringside\":1,\"do\":\"status\"}\n{\"ringside\":1,\"do\":\"sta");
	assert_string_equal(get(fd), OK_RUNNING);
	put(fd, "tus\"}\n");
	assert_string_equal(get(fd), OK_RUNNING);
	shutdown(fd, SHUT_WR);
	turn();
	assert_string_equal(get(fd), "(end)");
	close(fd);
}

static void a_pause_is_answered_when_the_machine_stands(void **state)
{
	int fd = attach();

	put(fd, "{\"ringside\":1,\"do\":\"pause\"}\n{\"ringside\":1,\"do\":\"status\"}\n");
	assert_true(fake.frozen);
	assert_string_equal(get(fd), "");
	fake.stands = true;
	control_standing(control, true);
	turn();
	/* The request behind it had waited. */
	assert_string_equal(get(fd), OK_PAUSED OK_PAUSED);
	request(fd, CONTROL_PAUSE);
	assert_string_equal(get(fd), OK_PAUSED);
	request(fd, CONTROL_RESUME);
	assert_false(fake.frozen);
	assert_string_equal(get(fd), OK_RUNNING);
	fake.freeze_fails = true;
	request(fd, CONTROL_PAUSE);
	assert_string_equal(get(fd), "{\"ringside\":1,\"ok\":false,\"error\":\"cannot\"}\n");
	close(fd);
}

static void stop_is_answered_and_its_connection_ends_with_the_machine(void **state)
{
	int fd = attach();

	request(fd, CONTROL_STOP);
	assert_int_equal(fake.stops, 1);
	assert_string_equal(get(fd), "{\"ringside\":1,\"ok\":true}\n");
	turn();
	assert_string_equal(get(fd), "");
	control_destroy(control);
	control = NULL;
	assert_string_equal(get(fd), "(end)");
	close(fd);
}

static void one_who_sends_and_goes_away_is_obeyed(void **state)
{
	int fd = attach();
	const char line[] = "{\"ringside\":1,\"do\":\"stop\"}\n";

	assert_int_equal(send(fd, line, strlen(line), 0), strlen(line));
	close(fd);
	turn();
	assert_int_equal(fake.stops, 1);
}

static void many_read_the_console_and_one_types(void **state)
{
	int a, b, c;

	control_output(control, "before\n", 7);
	a = attach();
	request(a, CONTROL_CONSOLE);
	assert_string_equal(get(a), "{\"ringside\":1,\"ok\":true,\"writer\":true}\nbefore\n");
	b = attach();
	request(b, CONTROL_CONSOLE);
	assert_string_equal(get(b), "{\"ringside\":1,\"ok\":true,\"writer\":false}\nbefore\n");
	put(b, "not heard");
	put(a, "heard");
	assert_int_equal(fake.typed_len, 5);
	assert_memory_equal(fake.typed, "heard", 5);
	control_output(control, "new", 3);
	assert_string_equal(get(a), "new");
	assert_string_equal(get(b), "new");
	close(a);
	turn();
	/* The next one may. */
	c = attach();
	request(c, CONTROL_CONSOLE);
	assert_non_null(strstr(get(c), "\"writer\":true"));
	close(b);
	close(c);
}

static void nobody_types_beside_the_runs_own_stdin(void **state)
{
	int fd = attach();

	fake.local_types = true;
	request(fd, CONTROL_CONSOLE);
	assert_non_null(strstr(get(fd), "\"writer\":false"));
	put(fd, "not heard");
	assert_int_equal(fake.typed_len, 0);
	close(fd);
}

static void keys_wait_for_room_and_none_is_lost(void **state)
{
	int fd = attach();
	char keys[5000];

	for (size_t i = 0; i < sizeof(keys); i++) {
		keys[i] = (char)('a' + i % 26);
	}
	fake.room = 3;
	request(fd, CONTROL_CONSOLE);
	assert_int_equal(send(fd, keys, sizeof(keys), 0), sizeof(keys));
	turn();
	assert_int_equal(fake.typed_len, 3);
	for (int i = 0; i < 100 && fake.typed_len < sizeof(keys); i++) {
		fake.room = 100;
		control_room(control);
		turn();
	}
	assert_int_equal(fake.typed_len, sizeof(keys));
	assert_memory_equal(fake.typed, keys, sizeof(keys));
	close(fd);
}

static void who_attaches_late_is_shown_the_last_of_the_console(void **state)
{
	static char text[3 * CONTROL_HISTORY + 5];
	size_t have = 0;
	char *start;
	int fd;

	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = (char)('a' + i % 23);
	}
	control_output(control, text, 100);
	control_output(control, text + 100, sizeof(text) - 100);
	fd = attach();
	request(fd, CONTROL_CONSOLE);
	start = strchr(get(fd), '\n') + 1;
	have = strlen(start);
	assert_int_equal(have, CONTROL_HISTORY);
	assert_memory_equal(start, text + sizeof(text) - CONTROL_HISTORY, CONTROL_HISTORY);
	close(fd);
}

static void a_reader_that_does_not_read_is_dropped_and_the_others_are_not(void **state)
{
	static char block[16384];
	int slow = attach(), good = attach();
	size_t seen = 0, sent = 0;
	ssize_t n;

	memset(block, 'x', sizeof(block));
	request(slow, CONTROL_CONSOLE);
	request(good, CONTROL_CONSOLE);
	get(good);
	for (int i = 0; i < 100; i++) {
		control_output(control, block, sizeof(block));
		sent += sizeof(block);
		while ((n = recv(good, got, sizeof(got), 0)) > 0) {
			seen += (size_t)n;
		}
		turn();
	}
	while ((n = recv(good, got, sizeof(got), 0)) > 0) {
		seen += (size_t)n;
	}
	assert_int_equal(seen, sent);
	/* What was on its way to the slow one is bounded, and then there is an end. */
	for (seen = 0; (n = recv(slow, got, sizeof(got), 0)) > 0; seen += (size_t)n) {
	}
	assert_int_equal(n, 0);
	assert_true(seen < sent);
	close(slow);
	close(good);
}

static void nonsense_is_answered_once_and_ends_the_connection(void **state)
{
	static char text[CONTROL_LINE_MAX + 200];
	int fd = attach();

	put(fd, "hello\n");
	assert_string_equal(
		get(fd),
		"{\"ringside\":1,\"ok\":false,\"error\":\"a line that is no JSON object\"}\n");
	assert_string_equal(get(fd), "(end)");
	close(fd);
	memset(text, 'x', sizeof(text) - 1);
	fd = attach();
	put(fd, text);
	assert_non_null(strstr(get(fd), "a request of more than 1024 bytes"));
	close(fd);
	/* At the limit it is read. */
	fd = attach();
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "{\"ringside\":1,\"do\":\"status\"}", 28);
	text[CONTROL_LINE_MAX] = '\n';
	text[CONTROL_LINE_MAX + 1] = '\0';
	put(fd, text);
	assert_string_equal(get(fd), OK_RUNNING);
	close(fd);
}

static void those_who_never_ask_do_not_keep_others_out(void **state)
{
	int idle[3 * CONTROL_CLIENTS_MAX], fd;

	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		idle[i] = attach();
		put(idle[i], "{\"ringside\":1,");
	}
	fd = attach();
	request(fd, CONTROL_STATUS);
	assert_string_equal(get(fd), OK_RUNNING);
	assert_string_equal(get(idle[0]), "(end)");
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		close(idle[i]);
	}
	turn();
	request(fd, CONTROL_STATUS);
	assert_string_equal(get(fd), OK_RUNNING);
	close(fd);
}

static void those_who_asked_stay_when_there_are_too_many(void **state)
{
	int fds[CONTROL_CLIENTS_MAX], late;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = attach();
		request(fds[i], CONTROL_STATUS);
		assert_string_equal(get(fds[i]), OK_RUNNING);
	}
	late = attach();
	turn();
	assert_string_equal(get(late), "(end)");
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		request(fds[i], CONTROL_STATUS);
		assert_string_equal(get(fds[i]), OK_RUNNING);
		close(fds[i]);
	}
	close(late);
}

/* Whatever clients do in whatever order, the machine's end goes on and forgets them. */
static void random_clients_do_no_harm(void **state)
{
	static const char *const pieces[] = {
		"{\"ringside\":1,\"do\":\"pause\"}\n",
		"{\"ringside\":1,\"do\":\"console\"}\n",
		"{\"ringside\":1,\"do\":\"status\"}\n",
		"{\"ringside\":1,\"do\":\"resume\"}\n",
		"{\"ringside\":1,\"do\":\"stop\"}\n",
		"{\"ringside\":1,",
		"\n",
		"\"do\":\"status\"}\n",
	};
	struct rng rng;
	int fds[24];

	memset(fds, -1, sizeof(fds));
	rng_init(&rng, 7);
	for (int i = 0; i < 3000; i++) {
		int *fd = &fds[rng_below(&rng, ARRAY_SIZE(fds))];
		const char *piece = pieces[rng_below(&rng, ARRAY_SIZE(pieces))];

		fake.room = rng_below(&rng, 50);
		fake.typed_len = 0;
		if (*fd < 0) {
			*fd = attach();
			turn();
		} else if (rng_below(&rng, 5) == 0) {
			close(*fd);
			*fd = -1;
		} else if (rng_below(&rng, 8) == 0) {
			shutdown(*fd, rng_below(&rng, 2) ? SHUT_WR : SHUT_RD);
		} else {
			(void)!send(*fd, piece, 1 + rng_below(&rng, strlen(piece)), MSG_NOSIGNAL);
			(void)!recv(*fd, got, sizeof(got), 0);
		}
		if (rng_below(&rng, 4) == 0) {
			control_output(control, "some output of the guest\n", 25);
			control_room(control);
		}
		if (rng_below(&rng, 4) == 0) {
			fake.stands = fake.frozen;
			control_standing(control, fake.stands);
		}
		run_rounds(1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		close(fds[i]);
	}
	turn();
	fake.stands = fake.frozen = false;
	fds[0] = attach();
	request(fds[0], CONTROL_STATUS);
	assert_string_equal(get(fds[0]), OK_RUNNING);
	close(fds[0]);
}

static void a_name_in_use_is_refused_and_a_dead_ones_is_taken(void **state)
{
	struct control_socket other;
	struct err e = ERR_INIT;
	int fd;

	assert_int_equal(control_socket_open("m", &other, &e), -EADDRINUSE);
	assert_string_equal(e.text, "a machine called 'm' runs already");
	/* Killed: the socket's name stays, and nobody listens. */
	assert_int_equal(control_socket_open("dead", &other, &e), 0);
	close(other.fd);
	assert_int_equal(access(other.path, F_OK), 0);
	assert_int_equal(control_connect("dead", &fd, &e), -ENOENT);
	assert_string_equal(e.text, "no machine called 'dead' runs");
	assert_int_equal(control_socket_open("dead", &other, &e), 0);
	control_socket_close(&other);
	assert_int_equal(access(other.path, F_OK), -1);
}

static char names[256];

static void add_name(void *ctx, const char *name, int fd)
{
	strcat(names, name);
	strcat(names, " ");
}

static void the_list_has_those_that_run_and_clears_away_the_rest(void **state)
{
	struct control_socket dead, b;

	assert_int_equal(control_socket_open("dead", &dead, NULL), 0);
	close(dead.fd);
	assert_int_equal(control_socket_open("b", &b, NULL), 0);
	names[0] = '\0';
	assert_int_equal(control_each(add_name, NULL, NULL), 0);
	assert_string_equal(names, "b m ");
	assert_int_equal(access(dead.path, F_OK), -1);
	control_socket_close(&b);
}

static void a_name_is_no_path_and_not_too_long(void **state)
{
	static const char *const bad[] = {"",         "a/b",
					  "../a",     ".a",
					  "-a",       "a b",
					  "\xc3\xa4", "a1234567890123456789012345678901234567890"};
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(control_name_check(bad[i], &e), -EINVAL);
	}
	assert_int_equal(control_name_check("a123456789012345678901234567890123456789", &e), 0);
	assert_int_equal(control_name_check("A-b_c.9", &e), 0);
}

static void a_folder_that_others_may_enter_is_not_used(void **state)
{
	struct control_socket other;
	struct err e = ERR_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/ringside", folder);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(control_socket_open("x", &other, &e), -EPERM);
	assert_non_null(strstr(e.text, "is not a folder that only its owner"));
	assert_int_equal(chmod(path, 0700), 0);
}

static int make_folder(void **state)
{
	assert_non_null(mkdtemp(folder));
	return setenv("XDG_RUNTIME_DIR", folder, 1);
}

static int remove_folder(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ringside/.lock", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/ringside", folder);
	assert_int_equal(rmdir(path), 0);
	return rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_are_answered_one_after_the_other),
		TEST(a_pause_is_answered_when_the_machine_stands),
		TEST(stop_is_answered_and_its_connection_ends_with_the_machine),
		TEST(one_who_sends_and_goes_away_is_obeyed),
		TEST(many_read_the_console_and_one_types),
		TEST(nobody_types_beside_the_runs_own_stdin),
		TEST(keys_wait_for_room_and_none_is_lost),
		TEST(who_attaches_late_is_shown_the_last_of_the_console),
		TEST(a_reader_that_does_not_read_is_dropped_and_the_others_are_not),
		TEST(nonsense_is_answered_once_and_ends_the_connection),
		TEST(those_who_never_ask_do_not_keep_others_out),
		TEST(those_who_asked_stay_when_there_are_too_many),
		TEST(random_clients_do_no_harm),
		TEST(a_name_in_use_is_refused_and_a_dead_ones_is_taken),
		TEST(the_list_has_those_that_run_and_clears_away_the_rest),
		TEST(a_name_is_no_path_and_not_too_long),
		TEST(a_folder_that_others_may_enter_is_not_used),
	};

	return cmocka_run_group_tests_name("engine_control", tests, make_folder, remove_folder);
}

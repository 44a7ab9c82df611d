/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "base/base64.h"

/* RFC 4648, section 10. */
static const struct {
	const char *plain, *text;
} vectors[] = {
	{"", ""},
	{"f", "Zg=="},
	{"fo", "Zm8="},
	{"foo", "Zm9v"},
	{"foob", "Zm9vYg=="},
	{"fooba", "Zm9vYmE="},
	{"foobar", "Zm9vYmFy"},
};

static void the_vectors_of_the_rfc_hold(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		size_t len = strlen(vectors[i].plain);
		char text[16], plain[16];

		base64_encode(vectors[i].plain, len, text);
		assert_string_equal(text, vectors[i].text);
		assert_int_equal(strlen(text), BASE64_LEN(len));
		assert_int_equal(base64_decode(text, strlen(text), plain, &len), 0);
		assert_int_equal(len, strlen(vectors[i].plain));
		assert_memory_equal(plain, vectors[i].plain, len);
	}
}

static void every_byte_comes_back(void **state)
{
	unsigned char all[256], back[258];
	char text[BASE64_LEN(sizeof(all)) + 1];
	size_t len;

	for (size_t i = 0; i < sizeof(all); i++) {
		all[i] = (unsigned char)i;
	}
	base64_encode(all, sizeof(all), text);
	assert_int_equal(base64_decode(text, strlen(text), back, &len), 0);
	assert_int_equal(len, sizeof(all));
	assert_memory_equal(all, back, len);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const bad[] = {"Z",    "Zg=",  "Zg==Zg==", "Z===",  "====", "Zg=a",
					  "Zh==", "Zm9=", "Zm 8",     "Zm8\n", "-_-_"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char plain[16];
		size_t len;

		assert_int_equal(base64_decode(bad[i], strlen(bad[i]), plain, &len), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_the_rfc_hold),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(what_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

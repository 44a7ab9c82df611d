# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by tools/quickstart and tools/check: says what is done, installs packages, builds.
# Sourced, never run; needs bash. The caller's working folder becomes the project's root.

set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 4
cd "$root" || exit 4
started=$SECONDS
export LC_ALL=C.UTF-8

# say TEXT: one line with the time that has gone by.
say() {
	printf '[%3d:%02d] %s\n' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) "$*"
}

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 4
}

# packages GROUP...: the names listed in tools/packages under those groups.
packages() {
	awk -v groups=" $* " '/^\[/ { on = index(groups, " " substr($0, 2, length($0) - 2) " ") }
		on && /^[a-z0-9]/ { print $1 }' tools/packages | sort -u
}

# with_ticks WHAT LOG COMMAND...: run a long command into a log, with a sign of life each 15 s.
with_ticks() {
	local what=$1 log=$2 pid status begun=$SECONDS
	shift 2
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if [ $((SECONDS - begun)) -ge 15 ]; then
			begun=$SECONDS
			say "  $what: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-90)"
		fi
	done
	wait "$pid"
	status=$?
	if [ $status -ne 0 ]; then
		echo "--- $what failed with status $status; the end of $log:" >&2
		tail -n 30 "$log" >&2
	fi
	return $status
}

# ensure_packages GROUP...: install what is missing, and say what that is.
ensure_packages() {
	local missing=() name
	command -v dpkg-query >/dev/null || die "this needs Debian's package tools (dpkg, apt-get)"
	for name in $(packages "$@"); do
		if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
			missing+=("$name")
		fi
	done
	if [ ${#missing[@]} -eq 0 ]; then
		say "packages: all there"
		return
	fi
	[ "$(id -u)" = 0 ] || die "run this as root, or install first: ${missing[*]}"
	say "packages: installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	mkdir -p build
	with_ticks "apt-get update" build/apt.log apt-get -q update || exit 4
	with_ticks "apt-get install" build/apt.log \
		apt-get -q install -y --no-install-recommends "${missing[@]}" || exit 4
}

# build_tree FOLDER -DOPTION=VALUE...: set up or change, then build; CC comes from the environment.
build_tree() {
	local dir=$1 verb=configure
	shift
	[ -f "$dir/build.ninja" ] || verb=setup
	mkdir -p "$dir"
	meson "$verb" "$dir" "$@" >"$dir/setup.log" 2>&1 </dev/null || {
		tail -n 20 "$dir/setup.log" >&2
		return 1
	}
	with_ticks "ninja $dir" "$dir/ninja.log" ninja -C "$dir"
}

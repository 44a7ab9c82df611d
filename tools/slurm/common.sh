# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by submit, requeue and merge: a job's folder, and what has become of its shards. Sourced by
# bash.
# shellcheck shell=bash disable=SC2034
#
# The folder of a job, which all nodes see:
#
#	job/words job/options      of ringside and of sbatch, each word with a NUL behind it
#	job/kind job/shards job/ringside
#	job/arrays                 a line for each submission: the array job's id, and its shards
#	job/I.alive                written anew by shard I while it runs: its job's id
#	job/I.status               the exit status of its ringside
#	log/I-JOB.txt              what it said
#	shard-I/, shard-I.ndjson   its results: of a test run, of a comparison

set -euo pipefail

me=tools/slurm/$(basename "$0")
here=$(dirname "$(readlink -f "$0")")

fail() {
	echo "$me: $*" >&2
	exit 4
}

wrong_words() {
	echo "$me: $*; see --help" >&2
	exit 2
}

# open_job DIR: sets dir, kind, shards, ringside, words and options.
open_job() {
	dir=$(realpath -e -- "$1" 2>/dev/null) || fail "$1: no such folder"
	[ -f "$dir/job/arrays" ] || fail "$1 is not the folder of a job: job/arrays is not in it"
	kind=$(<"$dir/job/kind")
	shards=$(<"$dir/job/shards")
	ringside=$(<"$dir/job/ringside")
	mapfile -d '' words <"$dir/job/words"
	mapfile -d '' options <"$dir/job/options"
}

# results_of SHARD: where its results are.
results_of() {
	case $kind in
	test) echo "$dir/shard-$1" ;;
	compare) echo "$dir/shard-$1.ndjson" ;;
	esac
}

# submit_shards LIST: hands an array of shards (1,2,7) to Slurm, and says which job it is.
submit_shards() {
	local id
	id=$(sbatch --parsable --job-name="ringside-$(basename "$dir")" --output="$dir/log/%a-%A.txt" \
		"${options[@]}" --array="$1" "$here/shard" "$dir") || fail "sbatch has not taken the job"
	id=${id%%;*}
	echo "$id $1" >>"$dir/job/arrays"
	echo "$id"
}

# seconds TIME: of squeue's D-HH:MM:SS.
seconds() {
	awk -F '[-:]' '{ n = split($0, p, /[-:]/); m[1] = 1; m[2] = 60; m[3] = 3600; m[4] = 86400
		for (i = 0; i < n; i++) { s += p[n - i] * m[i + 1] } print s }' <<<"$1"
}

# silence SHARD JOB ELAPSED: seconds since a running shard has given its last sign of life. The times
# are the file system's: clocks of nodes may differ.
silence() {
	local alive=$dir/job/$1.alive
	: >"$dir/job/now"
	if [ "$(cat "$alive" 2>/dev/null)" = "$2" ]; then
		echo $(($(stat -c %Y "$dir/job/now") - $(stat -c %Y "$alive")))
	else
		seconds "$3"
	fi
}

# look_at_shards PATIENCE: sets state[I] to ended, pending, running, silent (running, says Slurm, but
# there was no sign of life for so long) or lost; why[I] in words; and id[I] to the Slurm job.
look_at_shards() {
	local array index name job elapsed status quiet i
	declare -gA state=() why=() id=()
	local queue
	queue=$(squeue -h -r --me -o '%F %K %T %A %M') || fail "squeue gives no answer"
	while read -r array index name job elapsed; do
		grep -q "^$array " "$dir/job/arrays" || continue
		id[$index]=${array}_$index
		state[$index]=pending why[$index]="Slurm: $name"
		if [ "$name" = RUNNING ]; then
			quiet=$(silence "$index" "$job" "$elapsed")
			state[$index]=running
			if [ "$quiet" -gt "$1" ]; then
				state[$index]=silent
				why[$index]="no sign of life for $quiet s, though it runs, says Slurm"
			fi
		fi
	done <<<"$queue"
	for ((i = 1; i <= shards; i++)); do
		[ -z "${state[$i]:-}" ] || continue
		status=$(cat "$dir/job/$i.status" 2>/dev/null) || status=none
		case $status in
		0 | 1 | 3) state[$i]=ended why[$i]="status $status" ;;
		none) state[$i]=lost why[$i]="it left no status, and Slurm has no such job any more" ;;
		*) state[$i]=lost why[$i]="ringside ended with status $status" ;;
		esac
	done
}

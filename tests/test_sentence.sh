#!/bin/sh
# SPDX-License-Identifier: MIT
# The sentence of the demo, from hand-made histograms: one row for each thing it may say.
set -eu
cd "$(dirname "$0")/.."
sentence=${B:-build}/examples/sentence
bad=0

# dispatcher, class, then p99 of: wait, delay, handler; mean handler; depth; turn sum of 10 s
histograms() {
	awk -v d="$1" -v c="$2" -v wait="$3" -v delay="$4" -v handler="$5" -v mean="$6" \
		-v depth="$7" -v busy="$8" 'BEGIN {
		one = "{\"metric\":\"%s\",\"labels\":{\"dispatcher\":\"%s\",\"class\":\"%s\"}," \
			"\"count\":1000,\"sum_seconds\":%.9f,\"p99\":%.9f,\"buckets\":[[null,1000]]}\n"
		printf one, "actor_mailbox_wait_seconds", d, "other", 1, wait / 2
		printf one, "actor_mailbox_wait_seconds", d, c, 1, wait
		printf one, "actor_message_handler_seconds", d, "other", .001, .00001
		printf one, "actor_message_handler_seconds", d, c, mean * 1000, handler
		printf one, "actor_mailbox_depth", d, c, 0, depth
		printf one, "actor_turn_seconds", d, c, busy, handler * 4
		printf one, "actor_turn_messages", d, c, 0, 4
		printf "{\"metric\":\"actor_dispatcher_queue_delay_seconds\",\"labels\":" \
			"{\"dispatcher\":\"%s\"},\"count\":9,\"sum_seconds\":1,\"p99\":%.9f}\n", d, delay
		print "{\"delivered\":2000,\"recorded\":2000,\"elapsed_seconds\":10.0}"
	}'
}

says() {
	wanted=$1
	shift
	got=$(histograms "$@" | "$sentence")
	case $got in
	*$wanted*) ;;
	*)
		echo "test_sentence: $* gives \"$got\", which lacks \"$wanted\"" >&2
		bad=1
		;;
	esac
	if [ "$(printf '%s\n' "$got" | wc -l)" -ne 1 ]; then
		echo "test_sentence: $* gives more than one line" >&2
		bad=1
	fi
}

#                                               wait   delay  handler mean   depth busy
says "Nobody waits"               hybrid pricing .0009  .0008  .0001   .0001  1     1
says "lower the throughput of 'pricing'" \
                                  hybrid pricing .010   .006   .0003   .0003  9     3
says "keeps a loop busy for 80 %" hybrid pricing .010   .006   .0003   .0003  9     8
says "handler of 'pricing' takes 20 ms" \
                                  hybrid pricing .030   .029   .020    .010   2     3
says "waits for its own work: 1000 messages" \
                                  hybrid rows    .010   .0001  .0001   .00001 1000  3
says "raise the throughput of 'rows'" \
                                  hybrid rows    .100   .0001  .0001   .00001 1000  3

for wrong in '' '{}' 'hello' '{"elapsed_seconds":"x"}' '[1,2' '{"elapsed_seconds":1} {'; do
	if printf '%s' "$wrong" | "$sentence" >/dev/null 2>&1; then
		echo "test_sentence: accepts \"$wrong\"" >&2
		bad=1
	fi
done
[ "$(echo '{"elapsed_seconds":1}' | "$sentence" | cut -c1-10)" = "Fewer than" ] || bad=1
exit $bad

#!/usr/bin/env bash
# scripts/bench.sh [-n REPETITIONS] [REGEX]: the benchmarks whose name matches, each in a
# process of its own so that none warms caches or heap for the next; medians of N runs
# (5 by default), real and CPU time.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

repetitions=5
while getopts n: option; do
  case $option in
    n) repetitions=$OPTARG ;;
    *) echo "usage: scripts/bench.sh [-n REPETITIONS] [REGEX]" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
pattern=${1-.}

need build
build release

printf '%-60s %14s %14s %5s\n' "median of $repetitions" real cpu unit
for program in "$root"/build/release/tests/bench/*_bench; do
  [ -x "$program" ] || { echo "no benchmark was built" >&2; exit 1; }
  names=$("$program" --benchmark_list_tests=true)
  while IFS= read -r name; do
    grep -qE -- "$pattern" <<<"$name" || continue
    # The filter is a regular expression: take the name literally.
    # shellcheck disable=SC2001
    filter=$(sed 's/[][\.*^$+?(){}|]/\\&/g' <<<"$name")
    "$program" --benchmark_filter="^$filter\$" --benchmark_repetitions="$repetitions" \
      --benchmark_report_aggregates_only=true --benchmark_format=csv 2>/dev/null |
      awk -F, -v name="$name" '/_median"/ {
        sub(/^"[^"]*",/, "") # the name may hold commas itself
        printf "%-60s %14.1f %14.1f %5s\n", name, $2, $3, $4 }'
  done <<<"$names"
done

#!/usr/bin/env bash
# scripts/simulators.sh [-n RUNS]: requests a wall second through a DRAM tier's TLM socket, in the
# configurations and on the patterns of a public comparison of simulators, beside their figures
# (results/published/simulators). Medians of RUNS processes (5 by default), CPU time of one core;
# writes results/simulators.md.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

runs=5
while getopts n: option; do
  case $option in
    n) runs=$OPTARG ;;
    *) echo "usage: scripts/simulators.sh [-n RUNS]" >&2; exit 2 ;;
  esac
done

command -v python3 >/dev/null || { echo "python3 is missing: it makes the table" >&2; exit 3; }
need build
build release line_dram_bench
program=$root/build/release/tests/bench/line_dram_bench
table=$(mktemp)
trap 'rm -f "$table"' EXIT

names=$("$program" --benchmark_list_tests=true | grep '^line_dram/')
# Round by round, so that a slow minute of the machine does not fall on one figure alone.
for ((run = 0; run < runs; ++run)); do
  while IFS= read -r name; do
    "$program" --benchmark_filter="^$name\$" --benchmark_format=json 2>/dev/null </dev/null
  done <<<"$names"
done >"$table"

python3 "$root/scripts/simulators.py" <"$table" >"$root/results/simulators.md.new"
mv "$root/results/simulators.md.new" "$root/results/simulators.md"
cat "$root/results/simulators.md"

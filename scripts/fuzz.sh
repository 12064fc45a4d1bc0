#!/usr/bin/env bash
# scripts/fuzz.sh [SECONDS [NAME...]]: runs each fuzzer of tests/fuzz (or those named)
# for so long, 20 s by default. A crash fails, and its input is kept in
# build/fuzz/crashes/. What was found stays in build/fuzz/corpus/NAME for the next run;
# tests/fuzz/corpus/NAME is only read.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=${1-20}
names=("${@:2}")
if [ ${#names[@]} -eq 0 ]; then
  for entry in "$root"/tests/fuzz/*_fuzz.cpp; do
    [ -e "$entry" ] || { echo "no fuzzer in tests/fuzz" >&2; exit 1; }
    names+=("$(basename "$entry" _fuzz.cpp)")
  done
fi

need build fuzz
build fuzz

mkdir -p "$root/build/fuzz/crashes"
for name in "${names[@]}"; do
  found=$root/build/fuzz/corpus/$name
  mkdir -p "$found"
  corpora=("$found")
  [ ! -d "$root/tests/fuzz/corpus/$name" ] || corpora+=("$root/tests/fuzz/corpus/$name")
  step "fuzz $name" "$root/build/fuzz/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$root/build/fuzz/crashes/$name-" \
    "${corpora[@]}"
done

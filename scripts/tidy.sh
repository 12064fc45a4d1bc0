#!/usr/bin/env bash
# scripts/tidy.sh [BASE]: clang-format and clang-tidy over the C++ files changed since BASE
# (a commit; HEAD by default), those not yet tracked included.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need build lint
build release # headers resolve through build/release/compile_commands.json

cd "$root"
base=${1-HEAD}
mapfile -t files < <({
  git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cpp'
  git ls-files --others --exclude-standard -- '*.h' '*.cpp'
} | sort -u)
if [ ${#files[@]} -eq 0 ]; then
  echo "no C++ file changed since $base"
  exit
fi
clang-format --dry-run -Werror "${files[@]}"
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build/release --quiet --warnings-as-errors='*'

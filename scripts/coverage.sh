#!/usr/bin/env bash
# scripts/coverage.sh: builds and tests under the preset `coverage`, then prints the share
# of lines run for each source file, the least covered first. Annotated sources are not kept.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need build
build coverage
find "$root/build/coverage" -name '*.gcda' -delete # counters add up over runs
step "test coverage" ctest --preset coverage --parallel "$(nproc)"

# A header is counted in many objects; a line counts as run when any of them ran it.
cd "$root"
find build/coverage -name '*.gcda' -print0 |
  xargs -0 gcov --stdout --relative-only --source-prefix "$root" 2>/dev/null |
  awk -F: '
    $2 ~ /^ *0$/ { if ($3 == "Source") file = $4; next }
    $2 + 0 > 0 && file !~ /^tests\// {
      count = $1; gsub(/[ *]/, "", count)
      if (count == "-") next
      key = file SUBSEP $2 + 0
      if (!(key in seen)) { seen[key] = 1; lines[file]++ }
      if (count !~ /^[#=]/ && !(key in ran)) { ran[key] = 1; hit[file]++ }
    }
    END { for (f in lines) printf "%5.1f%%  %5d of %5d  %s\n", 100 * hit[f] / lines[f], hit[f], lines[f], f }
  ' | sort -n

#!/usr/bin/env bash
# scripts/studies.sh [NAME...]: every study of scenarios/studies (or those named) at few
# points, as many at a time as there are cores. A study whose ledger does not balance or
# whose run fails, fails; one whose third-party data is absent says so. What they write lies
# in build/studies/NAME.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for entry in "$root"/scenarios/studies/*/study.py; do
    names+=("$(basename "$(dirname "$entry")")")
  done
fi

need build studies
build release umfsim

study() { # NAME
  local log="$logs/study-$1.log" start=$SECONDS status=0
  python3 "$root/scenarios/studies/$1/study.py" --quick --out "$root/build/studies/$1" \
    --umfsim "$root/build/release/app/umfsim" >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) printf '  %-22s%s\n' "$1" "done, $((SECONDS - start)) s" ;;
    77) printf '  %-22s%s\n' "$1" "skipped: $(tail -n 1 "$log")" ;;
    *)
      printf '  %-22s%s\n' "$1" "failed"
      tail -n 40 "$log" >&2
      return 1
      ;;
  esac
}
export -f study
export root logs

echo studies
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${names[@]}" |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'set -euo pipefail; SECONDS=0; study "$1"' study

#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'HELP'
usage: ./test.sh                  build, then run all tests; prints the summary
       ./test.sh ARGUMENT...      the same with arguments for ctest, all of its output shown
                                  (./test.sh -R umft, ./test.sh -N)

Missing Debian packages (scripts/packages.txt) are installed as root or with sudo; without
either it prints what to install and exits with 3. Tests that need third-party files look
for them in $UMFSIM_SHARED, else in ../shared, and are skipped where there is no such folder.
Full output of each step: build/log/.
HELP
    exit
    ;;
esac

# shellcheck source=scripts/setup.sh
. "$here/scripts/setup.sh"
need build
build release

tests=(ctest --preset release --parallel "$(nproc)")
if [ $# -gt 0 ]; then
  "${tests[@]}" "$@" 2>&1 | tee "$logs/test-release.log"
else
  step "test release" "${tests[@]}"
  # Which were skipped, and how many passed.
  sed -n '/^The following tests did not run/,/^$/p; /% tests passed/p' "$logs/test-release.log"
fi

#!/usr/bin/env bash
# scripts_test.sh CASE SOURCE_DIR: one case, one process. Each runs the real scripts from a
# copy of them, with stand-ins first in PATH that note how they were called in $calls.
# shellcheck disable=SC2016 # stand-ins are programs in single quotes
set -euo pipefail

case_name=$1 source_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
copy="$scratch/a checkout" stubs="$scratch/stubs" calls="$scratch/calls"
mkdir -p "$copy" "$stubs" "$scratch/elsewhere"
cp -r "$source_dir/run.sh" "$source_dir/test.sh" "$source_dir/scripts" \
  "$source_dir/CMakePresets.json" "$copy"
: >"$calls"
export calls copy PATH="$stubs:$PATH"

fail() {
  echo "$case_name: $*" >&2
  [ ! -f "$scratch/out" ] || sed 's/^/  | /' "$scratch/out" >&2
  exit 1
}

# stub NAME BODY: a program that notes its call, then does BODY.
stub() {
  printf '#!/bin/bash\necho "%s $*" >>"$calls"\n%s\n' "$1" "$2" >"$stubs/$1"
  chmod +x "$stubs/$1"
}

# runs EXPECTED_STATUS COMMAND...: output goes to $scratch/out.
runs() {
  local expected=$1 status=0
  shift
  "$@" >"$scratch/out" 2>&1 </dev/null || status=$?
  [ "$status" -eq "$expected" ] || fail "status $status, expected $expected: $*"
}
prints() { grep -qF -- "$1" "$scratch/out" || fail "does not print: $1"; }
called() { grep -qE -- "$1" "$calls" || { cat "$calls" >&2; fail "no call of: $1"; }; }
not_called() { ! grep -qE -- "$1" "$calls" || fail "called: $1"; }

all_packages() { sed 's/#.*//' "$copy/scripts/packages.txt" | awk 'NF { print $1 }'; }

# A machine where all packages are there but those named.
installed_but() {
  local list
  list=$(all_packages | grep -vxFf <(printf '%s\n' "$@") | sed 's/$/ installed/')
  stub dpkg-query "cat <<'LIST'
$list
LIST"
}
# A CMake that configures and builds at once, into what the scripts look for.
quick_cmake() {
  stub cmake 'tree="$copy/build/release"
case "$*" in
  *--build*) mkdir -p "$tree/app"; cat >"$tree/app/umfsim" <<"PROGRAM"
#!/bin/bash
echo "umfsim in $PWD: $*"
PROGRAM
    chmod +x "$tree/app/umfsim" ;;
  *) mkdir -p "$tree"; touch "$tree/build.ninja"
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$copy" >"$tree/CMakeCache.txt" ;;
esac'
  stub ctest 'echo "100% tests passed, 0 tests failed out of 5"'
}
user() { stub id "echo $1"; }

help() {
  runs 0 "$copy/run.sh" --help
  prints "usage: ./run.sh"
  prints "--scenario scenarios/hardware/umf-small-hbm.json --policy umf --against all"
  prints "Arguments replace that whole command line"
  runs 0 "$copy/test.sh" --help
  prints "usage: ./test.sh"
  [ ! -e "$copy/build" ] || fail "--help started a build"
}

packages_are_known() {
  local package group rest
  while read -r package group rest; do
    case $package in '' | '#'*) continue ;; esac
    case $group in build | fuzz | studies | lint) ;; *) fail "$package: unknown group \"$group\"" ;; esac
    [ -z "$rest" ] || fail "$package: more than a group on the line"
    [[ $package =~ ^[a-z0-9][a-z0-9+.-]+$ ]] || fail "$package: no Debian package is named so"
    grep -qF "| \`$package\` |" "$source_dir/CONTRIBUTING.md" ||
      fail "$package: CONTRIBUTING.md does not say why it is needed"
  done <"$copy/scripts/packages.txt"
  [ -z "$(all_packages | sort | uniq -d)" ] || fail "named twice: $(all_packages | sort | uniq -d)"
  # The other way round: no package there that is not in the list.
  while read -r package; do
    all_packages | grep -qx "$package" || fail "$package: in CONTRIBUTING.md, not in packages.txt"
  done < <(sed -n '/^## Debian packages/,/^## [^D]/s/^| `\([^`]*\)` |.*/\1/p' "$source_dir/CONTRIBUTING.md")
}

no_rights_prints_the_command() {
  installed_but ccache libfmt-dev
  user 1000
  stub sudo 'exit 1'
  stub apt-get ''
  for script in run.sh test.sh; do
    runs 3 "$copy/$script"
    prints "apt-get install --no-install-recommends ccache libfmt-dev"
  done
  not_called '^apt-get'
}

sudo_installs() {
  installed_but ccache
  user 1000
  stub sudo '[ "$1" != -n ] || shift; "$@"'
  stub apt-get ''
  quick_cmake
  runs 0 "$copy/test.sh"
  called '^sudo .*apt-get install .* ccache$'
}

root_installs() {
  installed_but ccache zlib1g-dev
  user 0
  stub sudo 'exit 1'
  stub apt-get ''
  quick_cmake
  runs 0 "$copy/test.sh"
  called '^apt-get update$'
  called '^apt-get install --yes --no-install-recommends ccache zlib1g-dev$'
  not_called '^sudo'
}

nothing_missing_asks_nothing() {
  installed_but
  user 1000
  stub sudo 'exit 1'
  stub apt-get 'exit 1'
  quick_cmake
  runs 0 "$copy/test.sh"
  not_called '^(sudo|apt-get)'
  [ "$(wc -l <"$scratch/out")" -eq 5 ] ||
    fail "expected a line each for packages, configure, build, test and the summary"
  prints "100% tests passed, 0 tests failed out of 5"
}

second_run_does_not_configure() {
  installed_but
  quick_cmake
  runs 0 "$copy/test.sh"
  called '^cmake .*--preset release$'
  : >"$calls"
  runs 0 "$copy/test.sh"
  not_called '^cmake -S'
  called '^cmake --build'
  # A changed preset is what the build does not notice by itself.
  touch -d '+1 minute' "$copy/CMakePresets.json"
  runs 0 "$copy/test.sh"
  called '^cmake -S'
}

moved_checkout_starts_afresh() {
  installed_but
  quick_cmake
  runs 0 "$copy/test.sh"
  not_called 'fresh'
  mv "$copy" "$scratch/moved"
  copy="$scratch/moved"
  runs 0 "$copy/test.sh"
  called '^cmake -S .*/moved --preset release --fresh$'
}

failure_shows_the_log() {
  installed_but
  quick_cmake
  stub cmake 'case "$*" in *--build*) echo "a.cpp:1: error: no such thing"; exit 2 ;; esac'
  runs 2 "$copy/run.sh"
  prints "failed"
  prints "a.cpp:1: error: no such thing"
  prints "$copy/build/log/build-release.log"
}

run_replays_the_sample() {
  installed_but
  quick_cmake
  cd "$scratch/elsewhere"
  runs 0 "$copy/run.sh"
  prints "umfsim in $copy: replay traces/samples/h100-qwen1.5-0.5b.umft --scenario scenarios/hardware/umf-small-hbm.json --policy umf --against all"
}

run_takes_a_command_line() {
  installed_but
  quick_cmake
  cd "$scratch/elsewhere"
  runs 0 "$copy/run.sh" inspect my.umft
  prints "umfsim in $scratch/elsewhere: inspect my.umft"
}

test_passes_arguments() {
  installed_but
  quick_cmake
  runs 0 "$copy/test.sh" -R umft
  called '^ctest --preset release --parallel [0-9]+ -R umft$'
  stub ctest 'echo "0% tests passed, 1 tests failed out of 1"; exit 8'
  runs 8 "$copy/test.sh" -R umft
  runs 8 "$copy/test.sh"
  prints "0% tests passed, 1 tests failed out of 1"
}

"$case_name"

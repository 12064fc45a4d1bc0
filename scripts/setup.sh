# Sourced by run.sh, test.sh and the scripts here: installs what is missing,
# configures and builds. One line a step on the terminal, the rest in build/log/.
# shellcheck shell=bash

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/log

# Compiled once, used by every checkout on the machine.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
# Without these ccache takes no file that uses a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# step LABEL COMMAND...: runs the command with its output in build/log/LABEL.log
# (blanks become dashes). A failure shows the end of that log and ends the script.
step() {
  local label=$1 log=$logs/${1// /-}.log start=$SECONDS status=0
  shift
  mkdir -p "$logs"
  printf '%-20s' "$label"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    echo "failed"
    tail -n 40 "$log" >&2
    echo "the whole log: $log" >&2
    exit "$status"
  fi
  echo "done, $((SECONDS - start)) s"
}

# packages_of GROUP...: the packages of scripts/packages.txt for these groups.
packages_of() {
  local package group
  while read -r package group; do
    case $package in '' | '#'*) continue ;; esac
    case " $* " in *" $group "*) echo "$package" ;; esac
  done <"$root/scripts/packages.txt"
}

# need GROUP...: sees to it that the packages are installed, or says which are not
# and exits with 3. Asks nothing of the network when all are there.
need() {
  local wanted present missing=() package as_root=()
  mapfile -t wanted < <(packages_of "$@")
  present=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qxF "$package installed" <<<"$present" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    printf '%-20s%s\n' packages "all installed"
    return
  fi

  if [ "$(id -u)" -ne 0 ]; then
    # sudo may ask for a password, but only where somebody can type it.
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
      {
        echo "These Debian packages are missing and there are no rights to install them:"
        printf '  %s\n' "${missing[@]}"
        echo "As root, run:"
        echo "  apt-get install --no-install-recommends ${missing[*]}"
      } >&2
      exit 3
    fi
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  step "package lists" "${as_root[@]}" apt-get update
  step "packages" "${as_root[@]}" apt-get install --yes --no-install-recommends "${missing[@]}"
}

# configure PRESET: CMake's first run; later ones are left to the build, which
# notices changed CMakeLists.txt files itself. It does not notice a changed preset
# or a checkout that was moved.
configure() {
  local preset=$1
  local tree=$root/build/$preset stamp=$logs/$preset.configured fresh=()
  if [ -f "$tree/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$tree/CMakeCache.txt"; then
    fresh=(--fresh)
  elif [ -f "$tree/build.ninja" ] && [ "$stamp" -nt "$root/CMakePresets.json" ]; then
    return
  fi
  step "configure $preset" cmake -S "$root" --preset "$preset" ${fresh[@]+"${fresh[@]}"}
  touch "$stamp"
}

# build PRESET [TARGET]: configures where needed, and builds everything or one target.
build() {
  cd "$root"
  configure "$1"
  step "build $1" cmake --build --preset "$1" --parallel "$(nproc)" ${2+--target "$2"}
}

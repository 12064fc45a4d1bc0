#!/usr/bin/env bash
# Installs what is missing, builds, and runs umfsim.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'HELP'
usage: ./run.sh                   build, then replay the bundled trace under every policy
       ./run.sh ARGUMENT...       build, then run: umfsim ARGUMENT...

Without arguments it runs
  umfsim replay traces/samples/h100-qwen1.5-0.5b.umft \
      --scenario scenarios/hardware/umf-small-hbm.json --policy umf --against all
Arguments replace that whole command line; paths in them are relative to where you are.

Missing Debian packages (scripts/packages.txt) are installed as root or with sudo; without
either it prints what to install and exits with 3. The program: build/release/app/umfsim.
Full output of each step: build/log/.
HELP
    exit
    ;;
esac

from=$PWD
# shellcheck source=scripts/setup.sh
. "$here/scripts/setup.sh"
need build
build release umfsim

program=$root/build/release/app/umfsim
if [ $# -eq 0 ]; then
  cd "$root"
  exec "$program" replay traces/samples/h100-qwen1.5-0.5b.umft \
    --scenario scenarios/hardware/umf-small-hbm.json --policy umf --against all
fi
cd "$from"
exec "$program" "$@"

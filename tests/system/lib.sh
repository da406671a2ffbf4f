# Shared by whole runs (tests/system/*/run). Source it first:
#
#     . "$PERFMAP_SOURCE/tests/system/lib.sh"
#
# The current folder is the test's own and is emptied here. Then there are:
#
#     $perfmap $plugin $fplugin          the command, its plugin, "-fplugin=..." of this build
#     $here                              the test's folder in the source tree
#     fail TEXT...                       ends the test, failed
#     skip TEXT...                       ends the test, skipped
#     need TOOL...                       skips when a tool is missing
#     expect_same A B                    two files are equal
#     expect_match FILE PATTERN [TEXT]   some line of FILE matches the extended regular expression; TEXT says what that means
#     expect_no_match FILE PATTERN
#     expect_status N COMMAND...         runs it (stdout to ./out, stderr to ./err) and compares the exit status
#     run COMMAND...                     expect_status 0
#     debian_source PACKAGE              prints the folder of Debian's source (fetched once for all tests), skips without network
#     keep_busy, leave_alone             others want all processors from here on; no more
#     gcc_versions                       the GCCs that have a back end (tests/gcc.sh; PERFMAP_GCC=13: that one only, also as `gcc`)
#     cached, sqlite_object, lua_program, same_three_ways, calls: see below
# shellcheck shell=bash
set -eu -o pipefail

: "${PERFMAP_BUILD:?the build folder}" "${PERFMAP_SOURCE:?the source folder}"
here=$(cd "$(dirname "$0")" && pwd)
test_name=$(basename "$here")
if [ -e CMakeLists.txt ] || [ -e .git ]; then
    echo "run me in a folder of my own, it will be emptied" >&2
    exit 1
fi
find . -mindepth 1 -delete
export LC_ALL=C.UTF-8 NO_COLOR=1 COLUMNS=120
unset PERFMAP_RUN_DIR LD_PRELOAD 2>/dev/null || true

fail() {
    printf '%s: %s\n' "$test_name" "$*" >&2
    exit 1
}

# With PERFMAP_NO_SKIP (scripts/check sets it) only what tests/skips lists may be missing.
skip() {
    [ -z "${PERFMAP_NO_SKIP:-}" ] || "$PERFMAP_SOURCE/tests/may-skip" "$*" || fail "may not be skipped here: $*"
    printf '%s: skipped: %s\n' "$test_name" "$*" >&2
    exit 77
}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || skip "no $tool"
    done
}

expect_same() {
    cmp -s "$1" "$2" || {
        diff "$1" "$2" 2>&1 | head -n 20 >&2 || true
        fail "'$1' and '$2' differ"
    }
}

expect_match() {
    grep -aqE -e "$2" "$1" || {
        head -n 40 "$1" >&2
        fail "nothing in '$1' matches '$2'${3:+: $3}"
    }
}

expect_no_match() {
    ! grep -aE -e "$2" "$1" >&2 || fail "'$1' has lines that match '$2'${3:+: $3}"
}

expect_status() {
    local expected=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    [ "$status" = "$expected" ] || {
        tail -n 20 out err >&2
        fail "exit status $status, not $expected: $*"
    }
}

run() { expect_status 0 "$@"; }

# Two for each processor: what is measured is preempted for two thirds of its wall time.
others=()
keep_busy() {
    trap leave_alone EXIT
    for _ in $(seq $(($(nproc) * 2))); do
        (while :; do :; done) &
        others+=($!)
    done
}

leave_alone() {
    [ ${#others[@]} = 0 ] || kill "${others[@]}" 2>/dev/null || true
    others=()
}

debian_source() {
    "$PERFMAP_SOURCE/scripts/debian-source" "$1" || skip "no source of Debian's $1"
}

perfmap=$PERFMAP_BUILD/bin/perfmap
[ -x "$perfmap" ] || fail "no $perfmap: build first"
plugin=$("$perfmap" plugin-path) || fail 'perfmap plugin-path failed'
fplugin=-fplugin=$plugin
PATH=$(dirname "$perfmap"):$PATH
# shellcheck source=tests/gcc.sh
. "$PERFMAP_SOURCE/tests/gcc.sh"

# cached NAME COMMAND...: the file NAME in a folder shared by the tests of this build; COMMAND makes it (it gets the path to write as its last
# argument) when it is not there or older than the plugin. Prints its path.
cached() {
    local path=$PERFMAP_BUILD/tests/cache${PERFMAP_GCC:+-gcc$PERFMAP_GCC}/$1
    shift
    mkdir -p "$(dirname "$path")"
    (
        flock 9
        if [ ! -e "$path" ] || [ -n "$(find "$(dirname "$plugin")" -maxdepth 1 -name 'perfmap*.so' -newer "$path")" ]; then
            rm -f "$path"
            "$@" "$path.new" >"$path.log" 2>&1 9>&- || {
                tail -n 20 "$path.log" >&2
                exit 1
            }
            mv "$path.new" "$path"
        fi
    ) 9>"$path.lock" || fail "cannot make $path"
    echo "$path"
}

no_map=-fplugin-arg-perfmap-map=no

# sqlite_object plain|plugin|no-map: SQLite as one object file, without and with the plugin, and with it but without a late map
sqlite_object() {
    local amalgamation
    amalgamation=$(debian_source sqlite3)/amalgamation
    case $1 in
    plain) cached sqlite-plain.o gcc -O1 -c "$amalgamation/sqlite3.c" -o ;;
    plugin) cached sqlite-plugin.o gcc -O2 -g "$fplugin" -c "$amalgamation/sqlite3.c" -o ;;
    no-map) cached sqlite-no-map.o gcc -O2 -g "$fplugin" "$no_map" -c "$amalgamation/sqlite3.c" -o ;;
    esac
}

compile_lua() { # plain|plugin|no-map FILE
    local source folder flags=() files
    source=$(debian_source lua5.4)/src
    case $1 in
    plugin) flags=("$fplugin") ;;
    no-map) flags=("$fplugin" "$no_map") ;;
    esac
    mapfile -t files < <(find "$source" -name '*.c' ! -name luac.c | sort)
    folder=$(mktemp -d)
    echo "#define DEB_HOST_MULTIARCH \"$(gcc -print-multiarch)\"" >"$folder/lua5.4-deb-multiarch.h" # as debian/rules makes it
    gcc -O2 -g "-I$folder" -std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_LINUX "${flags[@]}" "${files[@]}" -o "$2" -lm -Wl,-E || return
    rm -r "$folder"
}

# lua_program plain|plugin|no-map: the interpreter, the same ways
lua_program() {
    debian_source lua5.4 >/dev/null
    cached "lua-$1" compile_lua "$1"
}

# Behaves as without PerfMap, three ways: same_three_ways PLAIN PLUGIN ARGUMENT...: runs both programs with the same arguments (standard input
# from ./input when it is there) and the second also measured; output and exit status must be those of the first. Leaves
# exact.perfmap and count.perfmap.
same_three_ways() {
    local plain=$1 measured=$2 input=/dev/null program=./program
    shift 2
    [ ! -e input ] || input=input
    local status=0
    # Both are called by the same name, for programs that say theirs.
    ln -sf "$plain" $program
    $program "$@" <"$input" >plain.out 2>plain.err || status=$?
    ln -sf "$measured" $program
    expect_status $status $program "$@" <"$input"
    expect_same plain.out out
    expect_same plain.err err
    local mode
    for mode in exact count; do
        rm -rf $mode.perfmap
        expect_status $status "$perfmap" run --mode $mode -o $mode.perfmap -- $program "$@" <"$input"
        expect_same plain.out out
        # What perfmap says goes to standard error too, each line marked.
        grep -av '^perfmap' err >program.err || true
        expect_same plain.err program.err
        [ -s $mode.perfmap ] || fail "no $mode.perfmap"
    done
}

# calls ARCHIVE FUNCTION: number of calls of a function, by its emitted name, over all contexts
calls() {
    "$perfmap" report --level base --by function --metric n_calls --limit 0 --csv "$1" >report.csv
    python3 "$PERFMAP_SOURCE/tests/system/calls.py" report.csv "$2"
}

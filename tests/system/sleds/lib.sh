# Shared by the tests of sleds. After tests/system/lib.sh: builds the tools, and offers
#
#     check [-k] PROGRAM           all its sled records are sound
#     same_when_trashed OUTPUT PROGRAM N [ARGUMENT...]
#                                  it prints what file OUTPUT says when every sled is armed and writes garbage into what it may; all but
#                                  N constructs are left as often as entered
# shellcheck shell=bash disable=SC2154
sleds=$PERFMAP_SOURCE/tests/system/sleds
programs=$sleds/programs
plugin_options=
libraries=$(pkg-config --libs sqlite3 libelf zlib libzstd)
# shellcheck disable=SC2086 # a list of flags
run cc -std=gnu17 -D_GNU_SOURCE -O1 -Wall -Wextra "$sleds/check_records.c" -o check_records \
    "$PERFMAP_BUILD/mapping/libperfmap_mapping.a" $libraries -lm
run cc -std=gnu17 -O1 -Wall -Wextra -fPIC -shared "$sleds/trash.c" -o trash.so

check() {
    ./check_records "$@" >records.txt 2>err || {
        head -n 20 err >&2
        fail "$*: bad sled records"
    }
}

same_when_trashed() {
    local expected=$1 program=$2 n_allowed=$3 status=0
    shift 3
    timeout 120 env TRASH_OUT=trash.txt LD_PRELOAD="$PWD/trash.so" "$program" "$@" >trashed.out 2>err || status=$?
    [ "$status" = 0 ] || {
        tail -n 5 err >&2
        fail "$program: exit status $status with all sleds armed"
    }
    expect_same "$expected" trashed.out
    awk '$2 + $5 > 0 { used = 1 } $2 != $3 + $4 || $5 != $6 { print; n++ }
         END { exit used && n + 0 == '"$n_allowed"' ? 0 : 1 }' trash.txt >unbalanced.txt || {
        cat unbalanced.txt >&2
        fail "$program: $(wc -l <unbalanced.txt) constructs are not left as often as entered, expected $n_allowed"
    }
}

# both_ways NAME COMMAND... builds, with $plugin_options, NAME-plain and NAME-sleds, and keeps the plain one's output in NAME.out
both_ways() {
    local name=$1
    shift
    run "$@" -w -o "./$name-plain"
    # shellcheck disable=SC2086 # a list of options
    run "$@" -w "$fplugin" $plugin_options -o "./$name-sleds"
    run timeout 120 "./$name-plain"
    mv out "$name.out"
}

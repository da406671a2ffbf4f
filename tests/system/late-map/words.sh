# What tests of the late map share, to be sourced behind lib.sh.
# shellcheck shell=bash
decode() { python3 "$PERFMAP_SOURCE/tests/system/late-map/decode.py" "$@"; }

# instructions FILE: all of them with their addresses and bytes
instructions() {
    objdump -d "$1" | grep -v -e 'file format' -e 'separate debug' # the second of newer ones
}

# same NAME: NAME and NAME-map have the same code
same() {
    instructions "$1" >"$1.txt"
    instructions "$1-map" >"$1-map.txt"
    cmp -s "$1.txt" "$1-map.txt" || {
        diff "$1.txt" "$1-map.txt" 2>&1 | head -n 10 >&2 || true
        fail "the map changes the code of: ${*:2}"
    }
}

value() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

# at_least FILE KEY NUMBER, at_most FILE KEY NUMBER
at_least() {
    awk -v key="$2" -v bound="$3" '$1 == key && $2 >= bound { ok = 1 } END { exit !ok }' "$1" || {
        cat "$1" >&2
        fail "$1: $2 is not at least $3"
    }
}
at_most() {
    awk -v key="$2" -v bound="$3" '$1 == key && $2 <= bound { ok = 1 } END { exit !ok }' "$1" || {
        cat "$1" >&2
        fail "$1: $2 is not at most $3"
    }
}

# The compilers that tests try. Source it, with $PERFMAP_BUILD set:
#
#     gcc_versions        the GCCs of this machine that have a back end in this build, one a line: 11 12
#     clang_versions      the Clangs: 14 19. None with PERFMAP_GCC; PERFMAP_CLANG=22: that one only
#     is_tried            see below
#
# PERFMAP_GCC=13 restricts them to that one, and makes `gcc`, `g++`, `gfortran` and `cc` be it, too (scripts/check-compilers tries one after
# the other so).
# shellcheck shell=bash

gcc_versions() {
    local version
    for version in ${PERFMAP_GCC:-11 12 13 14 15 16}; do
        if command -v "gcc-$version" >/dev/null && [ -e "$PERFMAP_BUILD/plugin/perfmap-gcc$version.so" ]; then
            echo "$version"
        fi
    done
}

clang_versions() {
    local version
    [ -z "${PERFMAP_GCC:-}" ] || return 0
    for version in ${PERFMAP_CLANG:-14 15 16 17 18 19 20 21 22}; do
        if command -v "clang-$version" >/dev/null && [ -e "$PERFMAP_BUILD/plugin/perfmap-clang$version.so" ]; then
            echo "$version"
        fi
    done
}

# is_tried VERSION FLAGS: with the newest GCC any, with those before -O0, -O2 and -O2 -flto (-g or not); with PERFMAP_TRUTH=all
# (make check-all) any, too
is_tried() {
    [ "${PERFMAP_TRUTH:-}" != all ] || return 0
    [ "$1" != "$(gcc_versions | tail -n 1)" ] || return 0
    case ${2% -g} in
    -O0 | -O2 | '-O2 -flto') ;;
    *) return 1 ;;
    esac
}

# use_gcc VERSION: a folder of links is first in PATH
use_gcc() {
    local folder=$PERFMAP_BUILD/tests/gcc-$1 name
    mkdir -p "$folder"
    for name in gcc g++ gfortran; do
        ! command -v "$name-$1" >/dev/null || ln -sf "$(command -v "$name-$1")" "$folder/$name"
    done
    ln -sf gcc "$folder/cc"
    ln -sf g++ "$folder/c++"
    PATH=$folder:$PATH
}

[ -z "${PERFMAP_GCC:-}" ] || use_gcc "$PERFMAP_GCC"

# Call counts against callgrind's, for the tests of that. After tests/system/lib.sh: offers compare and program.
# shellcheck shell=bash disable=SC2154
callgrind=$PERFMAP_SOURCE/tests/system/callgrind

# compare NAME ARGUMENT...
compare() {
    local name=$1
    shift
    run valgrind --tool=callgrind --callgrind-out-file="$name.callgrind" --demangle=no "./$name" "$@"
    mv out "$name.expected"
    local mode
    for mode in exact count; do
        run "$perfmap" run --mode $mode -o "$name.$mode.perfmap" -- "./$name" "$@"
        expect_same "$name.expected" out
        run "$perfmap" report --level base --by function --metric n_calls --limit 0 --csv "$name.$mode.perfmap"
        mv out "$name.$mode.csv"
        python3 "$callgrind/compare.py" "$name" "$name.callgrind" "$name.$mode.csv" >out || {
            head -n 20 out >&2
            fail "$name, mode $mode: call counts differ (left of it: $PWD/$name.*)"
        }
        echo "$name, $mode: $(tail -n 1 out)"
    done
}

# program COMPILER SOURCE ARGUMENT...: at -O0, at -O2, and at -O2 with all calls kept
program() {
    local compiler=$1 source=$2 level name
    shift 2
    for level in -O0 -O2 "-O2 -fno-inline"; do
        name=$(basename "$source" | tr . -)${level// /}
        # shellcheck disable=SC2086 # one or two options
        run "$compiler" $level -g "$fplugin" "$source" -o "$name" -lm
        compare "$name" "$@"
    done
}

# lua COMPILER FLAG...
lua() {
    local source files
    source=$(debian_source lua5.4)/src
    echo "#define DEB_HOST_MULTIARCH \"$(gcc -print-multiarch)\"" >lua5.4-deb-multiarch.h # as debian/rules makes it
    mapfile -t files < <(find "$source" -name '*.c' ! -name luac.c)
    # Without a fixed seed Lua's tables depend on time and addresses, and with more than one place its string cache on addresses.
    run "$@" -O2 -g -I. -std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_LINUX "-Dluai_makeseed(L)=1" -DSTRCACHE_N=1 -DSTRCACHE_M=1 "$fplugin" "${files[@]}" -o lua-O2 -lm -Wl,-E
    cat >work.lua <<'END'
local t = {}
for i = 1, 300 do t[i] = tostring(i * 7919 % 311) end
table.sort(t, function(a, b) return #a < #b or (#a == #b and a < b) end)
local ok, err = pcall(function() local function f(n) if n == 0 then error("deep", 0) end return 1 + f(n - 1) end f(50) end)
local co = coroutine.wrap(function() for i = 1, 50 do coroutine.yield(i) end return 0 end)
local s = 0
for _ = 1, 51 do s = s + co() end
print(t[1], t[300], ok, err, s, (("x"):rep(100):gsub("x", "yz")):len())
END
    compare lua-O2 work.lua
}

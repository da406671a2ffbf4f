-- Checks of the Lua interpreter that check themselves; prints the same on every machine.
local n_checks = 0
local function check(name, is, should)
  n_checks = n_checks + 1
  if is ~= should then
    error(string.format("%s: %s, not %s", name, tostring(is), tostring(should)), 2)
  end
end

-- Errors leave many C and Lua frames at once (longjmp).
local function dive(depth) if depth == 0 then error({ code = 42 }) end return 1 + dive(depth - 1) end
for depth = 0, 150 do
  local ok, err = pcall(dive, depth)
  check("error is caught", ok, false)
  check("error object", err.code, 42)
end
check("error in sort", select(2, pcall(table.sort, { 3, 1, 2 }, function() error("x", 0) end)), "x")
check("error through gsub", select(2, pcall(string.gsub, "abc", ".", function(c) if c == "c" then error("at c", 0) end end)), "at c")
check("stack overflow", select(2, pcall(function() local function f() return 1 + f() end return f() end)):match("stack overflow") ~= nil, true)
check("empty repetition", string.rep("x", -1), "")
local trace = select(2, xpcall(dive, function(e) return debug.traceback("t" .. e.code) end, 3))
check("traceback", trace:match("^t42\nstack traceback:") ~= nil, true)

-- Tail calls take no stack.
local function loop(n) if n == 0 then return "done" end return loop(n - 1) end
check("tail calls", loop(300000), "done")

-- Coroutines: each has its own Lua stack; resume is a C call.
local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local sum = 0
for i in numbers(20000) do sum = sum + i end
check("generator", sum, 200010000)
local function nested(depth)
  return coroutine.wrap(function() if depth > 0 then for v in nested(depth - 1) do coroutine.yield(v + 1) end else coroutine.yield(0) end end)
end
check("nested coroutines", nested(60)(), 60)
local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() sum = -1 end }) coroutine.yield() end)
coroutine.resume(co)
check("closing", coroutine.close(co) and sum, -1)
check("error in coroutine", select(2, coroutine.resume(coroutine.create(function() dive(20) end))).code, 42)
check("yield over pcall", coroutine.wrap(function() return pcall(function() coroutine.yield("y") end) end)(), "y")

-- Recursion and closures.
local function ackermann(m, n)
  if m == 0 then return n + 1 elseif n == 0 then return ackermann(m - 1, 1) else return ackermann(m - 1, ackermann(m, n - 1)) end
end
check("ackermann", ackermann(2, 60), 123)
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
check("fib", fib(22), 17711)

-- Tables, sorting, strings.
local seed, list = 7, {}
local function random() seed = (seed * 1103515245 + 12345) % 2147483648 return seed end
for i = 1, 20000 do list[i] = random() end
table.sort(list)
for i = 2, #list do if list[i - 1] > list[i] then error("not sorted") end end
table.sort(list, function(a, b) return a % 1000 > b % 1000 or (a % 1000 == b % 1000 and a < b) end)
check("sort with order", list[1] % 1000, 999)
local words = {}
for i = 1, 3000 do words[#words + 1] = string.format("%05d:%s", i, ("ab"):rep(i % 7)) end
local text = table.concat(words, " ")
check("concat", #text, 3000 * 7 - 1 + (0 + 2 + 4 + 6 + 8 + 10 + 12) * 428 + 2 + 4 + 6 + 8)
local n_words = 0
for w in text:gmatch("%d+:[ab]*") do n_words = n_words + 1 end
check("gmatch", n_words, 3000)
check("gsub", (select(2, text:gsub("ab", "ba"))), (1 + 2 + 3 + 4 + 5 + 6) * 428 + 1 + 2 + 3 + 4)
check("pack", string.unpack("<i4", string.pack("<i4", -123456)), -123456)

-- Garbage collection with finalizers and weak tables.
local finalized, weak = 0, setmetatable({}, { __mode = "v" })
for i = 1, 5000 do weak[i] = setmetatable({ i }, { __gc = function() finalized = finalized + 1 end }) end
collectgarbage() collectgarbage()
check("finalizers", finalized, 5000)
check("weak table", next(weak), nil)
collectgarbage("generational")
local keep = {}
for i = 1, 100000 do keep[i % 100] = { tostring(i) } end
check("generational", keep[99][1], "99999")

-- Compilation and metamethods.
local chunk = {}
for i = 1, 500 do chunk[i] = "x = x + " .. i end
local env = { x = 0 }
load(table.concat(chunk, "\n"), "chunk", "t", env)()
check("load", env.x, 125250)
check("bad chunk", (select(2, load("x = = 1", "=bad"))), "bad:1: unexpected symbol near '='")
local vector = {}
vector.__index = vector
vector.__add = function(a, b) return setmetatable({ a[1] + b[1] }, vector) end
local v = setmetatable({ 0 }, vector)
for i = 1, 10000 do v = v + setmetatable({ i }, vector) end
check("metamethods", v[1], 50005000)
print("all " .. n_checks .. " checks passed")

-- Counts its own calls, function by function, and prints them: "COUNT NAME".
local n = {}
local function count(name) n[name] = (n[name] or 0) + 1 end

local function fib(k)
  count("fib")
  if k < 2 then return k end
  return fib(k - 1) + fib(k - 2)
end

local even, odd
function even(k)
  count("even")
  if k == 0 then return true end
  local r = odd(k - 1)
  return r
end
function odd(k)
  count("odd")
  if k == 0 then return false end
  local r = even(k - 1)
  return r
end

local function loop(k)
  count("loop")
  if k > 0 then return loop(k - 1) end
end
local ping, pong
function ping(k) count("ping") if k > 0 then return pong(k - 1) end end
function pong(k) count("pong") if k > 0 then return ping(k - 1) end end

local function variadic(...)
  count("variadic")
  return select("#", ...)
end

local function gen(m)
  count("gen")
  for i = 1, m do coroutine.yield(i) end
end
local function tree(depth) -- coroutines within coroutines
  count("tree")
  if depth == 0 then coroutine.yield(depth) return end
  for v in coroutine.wrap(tree), depth - 1 do coroutine.yield(v) end
end

local function bad(k)
  count("bad")
  if k == 0 then error("on purpose") end
  local r = bad(k - 1)
  return r
end
local function catch(k)
  count("catch")
  local ok = pcall(bad, k)
  return ok
end
local function deep(k)
  count("deep")
  if k == 0 then error("far from home") end
  return 1 + deep(k - 1)
end

local Vector = {}
Vector.__index = Vector
Vector.__add = function(a, b)
  count("Vector.__add")
  return setmetatable({x = a.x + b.x}, Vector)
end
function Vector:length()
  count("Vector:length")
  return self.x
end
function Vector.__close()
  count("Vector.__close")
end
local less = function(a, b)
  count("less")
  return a < b
end

local function outer() count("outer") return (function(a) return a end)() end
for i = 1, 12 do outer() end

fib(18)
even(1000) odd(301)
loop(5000) ping(1001)
for i = 1, 40 do variadic(i, i) end
for i = 1, 10 do
  for v in coroutine.wrap(function() gen(20) end) do fib(3) end
end
for i = 1, 10 do -- never finished
  local co = coroutine.create(gen)
  for j = 1, 5 do coroutine.resume(co, 10) end
end
for v in coroutine.wrap(tree), 4 do fib(2) end
for i = 1, 50 do -- errors in coroutines
  local co = coroutine.create(function() catch(2) bad(3) end)
  coroutine.resume(co)
  fib(1)
end
for i = 1, 100 do catch(5) fib(1) end
pcall(deep, 100000)
local v = setmetatable({x = 1}, Vector)
for i = 1, 77 do v = v + v v:length() end
for i = 1, 5 do
  local c <close> = setmetatable({}, Vector)
end
pcall(function() local c <close> = setmetatable({}, Vector) error("x") end)
local t = {}
for i = 1, 200 do t[i] = (i * 7919) % 1000 end
table.sort(t, less)
load("local function loaded() COUNT('loaded') end for i = 1, 9 do loaded() end", "=loaded", "t", {COUNT = count})()
load("local function text(i)\nCOUNT('text') end for i = 1, 8 do text(i) end", nil, "t", {COUNT = count})()

local names, sum = {}, 0
for name, k in pairs(n) do
  names[#names + 1] = name
  sum = sum + k
end
table.sort(names)
for _, name in ipairs(names) do print(n[name] .. " " .. name) end
print(sum .. " count")

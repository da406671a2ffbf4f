-- How long does Lua take for a small piece of work? The same piece many times; prints the shortest in nanoseconds.
--     lua lua_unit.lua [SECONDS [REPETITIONS]]
-- lua_unit.c gives these; else they come from the command line.
local now = now or os.clock
local seconds, n_left = seconds or tonumber(arg[1] or "1"), repetitions or tonumber(arg[2] or "1e18")
local function unit()
  local t, s = {}, 0
  for i = 1, 400 do t[i] = { key = i * 7919 % 401, text = "n" .. i } end
  table.sort(t, function(a, b) return a.key < b.key end)
  for i = 1, 400 do s = s + #t[i].text + (t[i].key % 3 == 0 and 1 or 0) end
  local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
  s = s + fib(15)
  local words = {}
  for w in ("the quick brown fox jumps over the lazy dog "):rep(10):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
  local co = coroutine.wrap(function() for i = 1, 200 do coroutine.yield(i) end return 0 end)
  for _ = 1, 200 do s = s + co() end
  return s + words.the
end
local best, stop = math.huge, now() + seconds
collectgarbage("generational")
repeat
  local start = now()
  unit()
  best = math.min(best, now() - start)
  n_left = n_left - 1
until n_left <= 0 or now() > stop
print(string.format("%.0f", best * 1e9))

-- Two functions and two lines whose parts of the time are known by the clock: "PERCENT NAME".
local function first(m)
  local s = 0
  for i = 1, m do
    s = s + i % 7
  end
  return s
end
local function second(m)
  local s = ""
  for i = 1, m do
    s = string.rep("x", 20000)
  end
  return s
end
local spent = {}
local function timed(name, f, m)
  local start = os.clock()
  f(m)
  spent[name] = (spent[name] or 0) + os.clock() - start
end
while os.clock() < 0.8 do
  timed("first", first, 20000)
  timed("second", second, 2)
end
local total = spent.first + spent.second
for _, name in ipairs {"first", "second"} do print(100 * spent[name] / total .. " " .. name) end

-- Words of a text: found, counted, sorted by how often they come. Which line costs most?
local function words(text)
    local list = {}
    for word in text:gmatch("%a+") do
        list[#list + 1] = word:lower()
    end
    return list
end

local function count(list)
    local n = {}
    for _, word in ipairs(list) do
        n[word] = (n[word] or 0) + 1
    end
    return n
end

local function less(a, b)
    return a.n > b.n or (a.n == b.n and a.word < b.word)
end

local function ranking(n)
    local list = {}
    for word, k in pairs(n) do
        list[#list + 1] = { word = word, n = k }
    end
    table.sort(list, less)
    return list
end

local parts = {}
for i = 1, 20000 do
    parts[#parts + 1] = string.format("line %d of %s and %s", i, string.char(97 + i % 26), ("x"):rep(i % 50))
end
local text = table.concat(parts, " ")
local list
for i = 1, 5 do
    list = ranking(count(words(text)))
end
print(#list, list[1].word, list[1].n)

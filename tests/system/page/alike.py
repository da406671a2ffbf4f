"""What a focus takes as the same is the same: machine loops and pieces of code have no place of the source. alike.py PAGE FOLDER"""
import sys

from browser import Browser

ALIKE = """(() => {
  const {nouns} = perfmap.archive, out = [];
  for (const id of nouns.ids)
    if (["loopcode", "code"].includes(nouns.noun(id).kind))
      out.push([nouns.noun(id).name, nouns.same(id).map((other) => nouns.noun(other).name)]);
  return out;
})()"""

with Browser(sys.argv[2]) as browser:
    told = browser.open(f"file://{sys.argv[1]}").evaluate(ALIKE)
assert len(told) > 2, told
for name, others in told:
    assert len(others) == 1 or (name and set(others) == {name}), (name, others)
print(f"{len(told)} alike only by name")

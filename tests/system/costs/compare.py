"""Compares reports of callgrind's costs with what the late map, read by ../late-map/decode.py, and callgrind's file say.

    compare.py BINARY CALLGRIND PIF FOLDER

PIF is `perfmap pif --json BINARY`; FOLDER has BY.RULE.json, reports of the archive that `perfmap collect --costs CALLGRIND` made:
BY statement, function, loop, array; RULE merge (with --bounds), closed, split, instructions (split by them). Prints figures; a difference
is an error.

Each address of callgrind's file has a set of constructs by the map. From these sets every row of every report follows: its cost, its bounds,
its shares. All of it is compared, and must be equal; shares to the rounding of whole instructions.

Then lines. Callgrind's are those of the line table. The two rightly differ where
- code enters or leaves a function: it has a statement of its own, which stands in the function's first line; the line table names lines of '{',
  '}' and neighbours. Or it is a sled;
- a statement has several lines: the map names its first one;
- an instruction has no location: the line table then has no row there and goes on with the line of the text before, across the borders of
  blocks, where the map stays within the block. An instruction is taken for such a one when the table has no row from the block's begin to it.
So each address is compared, and each line whose code is its own alone must have the cost that callgrind gives it, with nothing but the cost of
those addresses moved.
"""
import bisect
import collections
import importlib.util
import json
import math
import os
import re
import subprocess
import sys

spec = importlib.util.spec_from_file_location("decode", os.path.join(os.path.dirname(__file__), "../late-map/decode.py"))
decode = importlib.util.module_from_spec(spec)
spec.loader.exec_module(decode)

NO_ARRAY = frozenset({"(no array)"})
MAX_PARENTHESES = 1  # that stand before a condition, whose statement begins behind them
OF_LOOP_MAX = 8  # arrays and fields of a loop: of more, what counts it is for none
READS, WRITES, THROUGH = 1, 2, 4
ACCESS = {"Reads": READS, "Writes": WRITES}
CALLS_MAX = 6  # methods that call others for their own object, one within the other
FRAME, SLED, PADDING = (decode.KINDS.index(kind) for kind in ("frame", "sled", "padding"))


def fail(text):
    print("compare.py:", text, file=sys.stderr)
    raise SystemExit(1)


# --- callgrind ---


def read_callgrind(path, binary):
    """Address -> (instructions, file, line) of the binary, and the total of all objects. One address can have several lines: then the costliest."""
    names, where, total, counts = {}, {}, 0, {}
    address = line = 0
    is_call = False
    for text in open(path, encoding="utf-8", errors="surrogateescape"):
        text = text.rstrip("\n")
        key, has_value, value = text.partition("=")
        if text[:1].isalpha() and has_value and not text.startswith("0x"):
            if key == "calls":
                is_call = True
            elif key in ("ob", "fl", "fi", "fe", "fn", "cob", "cfi", "cfl", "cfn"):
                kind = {"o": "ob", "f": "fn" if key == "fn" else "fl"}.get(key[0], "ob" if key == "cob" else "fn" if key == "cfn" else "fl")
                number, _, name = value.partition(" ")
                name = names.setdefault((kind, number), name) if number.startswith("(") else value
                where[{"fi": "fl", "fe": "fl"}.get(key, key)] = name
            continue
        if not re.match(r"[0-9+*-]", text):
            continue
        fields = text.split()
        address, line = (before if field == "*" else before + int(field, 0) if field[0] in "+-" else int(field, 0)
                         for before, field in ((address, fields[0]), (line, fields[1])))
        if is_call:  # the inclusive cost of the call
            is_call = False
            continue
        cost = int(fields[2]) if len(fields) > 2 else 0
        total += cost
        if where["ob"] == binary:
            counts.setdefault(address, collections.Counter())[where["fl"], line] += cost
    stated = [int(text.split()[1]) for text in open(path, encoding="utf-8", errors="replace") if text.startswith("totals:")]
    if stated != [total]:
        fail(f"{path}: the costs add up to {total}, the file says {stated}")
    return counts, total


# --- what the map says of an address ---


def xxh64(data):
    """XXH64 of less than 32 bytes, with the seed 0."""
    primes = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    mask = (1 << 64) - 1

    def rotate(value, by):
        value &= mask
        return (value << by | value >> (64 - by)) & mask

    assert len(data) < 32
    value, at = primes[4] + len(data), 0
    while at + 8 <= len(data):
        word = rotate(int.from_bytes(data[at : at + 8], "little") * primes[1], 31) * primes[0]
        value, at = rotate(value ^ (word & mask), 27) * primes[0] + primes[3], at + 8
    if at + 4 <= len(data):
        value, at = rotate((value & mask) ^ (int.from_bytes(data[at : at + 4], "little") * primes[0] & mask), 23) * primes[1] + primes[2], at + 4
    for byte in data[at:]:
        value = rotate((value & mask) ^ (byte * primes[4] & mask), 11) * primes[0]
    for shift, prime in ((33, primes[1]), (29, primes[2]), (32, 1)):
        value = ((value & mask) ^ ((value & mask) >> shift)) * prime
    return value & mask


def parameter_of(function, number=0):
    """The id of a parameter, as format/pm_id.h makes ids; the first is a method's object. It is no noun, for the source does not name it."""
    return xxh64(b"parameter\0%016x\0%d\0" % (function, number)) or 1


def parameters_of(function):
    return {parameter_of(function, number) for number in range(10)}


def without_arguments(kind):
    """A type's name without the arguments of templates."""
    while (shorter := re.sub("<[^<>]*>", "", kind)) != kind:
        kind = shorter
    return kind


class Facts:
    def __init__(self, pif, blocks):
        self.with_map = {function for block in blocks for function in block.functions}
        facts = json.load(open(pif))
        self.nouns = {int(noun["id"], 16): noun for noun in facts["nouns"]}
        self.statements = collections.defaultdict(list)
        for noun_id, noun in self.nouns.items():
            if noun.get("kind") == "statement":
                key = self.function(noun_id), noun.get("file")
                self.statements[key].append((noun.get("line", 0), noun.get("column", 0), noun_id))
        for known in self.statements.values():
            known.sort()
        self.within = collections.defaultdict(list)  # statements by what is around them
        for noun_id, noun in self.nouns.items():
            if noun.get("kind") == "statement":
                self.within[int(noun.get("parent", "0"), 16)].append(noun_id)
        self.accesses = collections.defaultdict(set)  # of statements: (noun, READS or WRITES)
        verbs = {verb["id"]: ACCESS.get(verb["name"]) for verb in facts["verbs"]}
        self.referred = collections.defaultdict(set)  # by parameters, pointers, fields: nouns, or ids of parameters that are none
        refers = {verb["id"] for verb in facts["verbs"] if verb["name"] == "Refers"}
        for mapping in facts["mappings"]:
            source, destination = mapping["source"], mapping["destination"]
            if source["verb"] in refers and len(source["nouns"]) == 1 and len(destination["nouns"]) == 1:
                self.referred[int(source["nouns"][0], 16)].add(int(destination["nouns"][0], 16))
            if verbs.get(destination["verb"]) and len(source["nouns"]) == 1 and len(destination["nouns"]) == 1:
                self.accesses[int(source["nouns"][0], 16)].add((int(destination["nouns"][0], 16), verbs[destination["verb"]]))

    def function(self, noun_id):
        while noun_id and self.nouns[noun_id].get("kind") != "function":
            noun_id = int(self.nouns[noun_id].get("parent", "0"), 16)
        return noun_id

    def made(self, key, name, function, file, line, column):
        self.nouns.setdefault(key, {"kind": "statement", "name": name, "file": file, "line": line, "column": column, "parent": f"{function:x}"})
        return key

    def frame(self, function):
        """Entering and leaving a function, a statement of its own."""
        noun = self.nouns[function]
        return self.made(("frame", function), "entry and exit of " + noun["name"], function, noun.get("file"), noun.get("line", 0), noun.get("column", 0))

    def statement(self, function, file, line, column):
        """The one that begins there, else the first one of the line where its parentheses are, else the last one that begins
        before and is not over. Before the function's first one and in its last line: entry and exit. Elsewhere (`} catch`), and in functions of system
        headers, which have no statements in the facts: what the map names."""
        name = self.nouns[file].get("name")
        known = self.statements.get((function, name), [])
        at = bisect.bisect_right(known, (line, column, 1 << 64)) - 1
        exact = bisect.bisect_left(known, (line, column, 0))
        if column == 0 and exact < len(known) and known[exact][0] == line:
            at = exact
        after = [(at_column, noun) for first, at_column, noun in known if first == line and at_column > column]
        if after and (at < 0 or known[at][0] != line) and after[0][0] - column <= MAX_PARENTHESES:
            return after[0][1]
        if at >= 0 and line <= max(known[at][0], self.nouns[known[at][2]].get("end_line") or 0):
            return known[at][2]
        own = self.nouns[function]
        last = own.get("end_line") or (line if at == len(known) - 1 else 0)
        if known and own.get("file") == name and (own.get("line", 0) <= line if at < 0 else line == last):
            return self.frame(function)
        return self.made((function, file, line, column), f"{name}:{line}:{column}", function, name, line, column)

    def loop(self, noun_id):
        """The loop around it, or else the function."""
        while self.nouns[noun_id].get("kind") not in ("loop", "function"):
            noun_id = int(self.nouns[noun_id]["parent"], 16)
        return noun_id

    def is_head(self, function, base, line):
        """Before the function's first statement: where GCC's table says that the frame is made."""
        noun = self.nouns.get(function, {})
        known = self.statements.get((function, noun.get("file")))
        return bool(known) and os.path.basename(noun["file"]) == base and noun["line"] <= line < known[0][0]

    def is_end(self, key, base, line):
        """Entry and exit of a function whose last line that is."""
        noun = self.nouns[key[1]] if isinstance(key, tuple) and key[0] == "frame" else {}
        return noun.get("end_line") == line and os.path.basename(noun["file"]) == base

    def is_array(self, noun_id):
        noun = self.nouns[noun_id]
        return noun.get("kind") in ("array", "heap") or bool(re.search(r"[*[&]|allocatable", without_arguments(noun.get("type", ""))))

    def is_data(self, noun_id):
        return self.is_array(noun_id) or self.nouns[noun_id].get("kind") == "field"

    def may_hold(self, base, field):
        """Do the object's elements have the field?"""
        kind = self.nouns[base].get("type")
        of = self.nouns.get(int(self.nouns[field].get("parent", "0"), 16), {}).get("name")
        if not kind or (of and re.search(rf"(?<!\w){re.escape(of)}(?!\w)", kind)):
            return True
        if "<" in kind and self.nouns[base].get("kind") == "variable":
            return True  # what is in it, its arguments do not say
        return not re.search(r"(?<!\w)(int|long|short|char|bool|_Bool|float|double|real|integer|logical|complex)(?!\w)", kind)

    def controls(self, tuple_, block):
        """Does the code, or the call of a system header that it is of, stand in the line where its loop begins?"""
        loop = self.nouns.get(tuple_.loop, {}) if tuple_.loop else {}
        _, file, line, _ = user_place(self, tuple_, block)
        return loop.get("line") == line and loop.get("file") == self.nouns.get(file, {}).get("name")

    def called_for(self, method, callers, outermost):
        """What a method is called for, also by other methods for their own object. Where it was inlined, callers are the functions around it
        up to the outermost, and what is local to others is not its object."""
        found, reached = set(), {parameter_of(method)}
        within = set()
        if outermost:
            within = reached.union(*map(parameters_of, callers)) - parameters_of(outermost)
        for _ in range(CALLS_MAX + 1):
            passed = set()
            for parameter in reached:
                passed |= {to for to in self.referred.get(parameter, ()) if parameter not in within or to not in self.nouns
                           or self.function(to) in {0, outermost} | callers}
            found |= passed & self.nouns.keys()
            reached = passed - self.nouns.keys()
        return found

    def is_of_objects(self, noun_id, field):
        """An array, or what refers to objects, that have the field? Fields stand for themselves."""
        noun = self.nouns[noun_id]
        return noun.get("kind") != "field" and not self.is_single(noun, field) and self.may_hold(noun_id, field)

    def is_single(self, noun, field):
        """One object, which rows of arrays do not name; a container to its own members."""
        kind = noun.get("type", "")
        if re.search("[*[&]", without_arguments(kind)):
            return False
        of = self.nouns.get(int(self.nouns[field].get("parent", "0"), 16), {}).get("name")
        return noun.get("kind") == "variable" or "<" not in kind or kind.removeprefix("const ") == of

    def key(self, noun_id):
        noun = self.nouns[noun_id]
        function = self.function(noun_id)
        return (noun.get("kind"), noun.get("name"), self.nouns[function].get("name") if function else None, noun.get("line") or None,
                noun.get("column") or None)


def places(tuple_, block):
    """The statement's own place, and those of others: (function, file, line, column, reason)."""
    if tuple_.kind not in (FRAME, PADDING) and tuple_.line:
        site = block.sites[tuple_.site - 1] if tuple_.site else None
        yield (site.function if site else block.functions[0]), tuple_.file, tuple_.line, tuple_.column, 0
    for reason, _, function, file, line, column in tuple_.also:
        yield function, file, line, column, reason


def own_function(tuple_, block):
    return block.sites[tuple_.site - 1].function if tuple_.site else block.functions[0]


def user_place(facts, tuple_, block):
    """Where headers of the system were called, with the site around it."""
    site, file, line, column = tuple_.site, tuple_.file, tuple_.line, tuple_.column
    while site and facts.nouns.get(file, {}).get("name", "/usr/").startswith("/usr/"):
        inlined = block.sites[site - 1]
        site, file, line, column = inlined.parent, inlined.file, inlined.line, inlined.column
    return site, file, line, column


def statement_of(facts, tuple_, block):
    site, file, line, column = user_place(facts, tuple_, block)
    return facts.statement(block.sites[site - 1].function if site else block.functions[0], file, line, column)


def add(touched, noun, access):
    touched[noun] = touched.get(noun, 0) | access


def add_all(touched, others):
    for noun, access in others.items():
        add(touched, noun, access)


def has_data(facts, touched):
    return any(facts.is_data(noun) for noun in touched)


def is_around(facts, known, noun, access):
    """Does the code touch a field of the records that the field holds?"""
    for inner, inner_access in known.items():
        of = facts.nouns.get(int(facts.nouns[inner].get("parent", "0"), 16), {}).get("name")
        if (facts.nouns[inner].get("kind") == "field" and inner != noun and inner_access & access and of
                and re.search(rf"(?<!\w){re.escape(of)}(?!\w)", facts.nouns[noun].get("type", ""))):
            return True
    return False


def add_fields(facts, touched, statement, known):
    """What the code touches of a record is the field that the statement names. known: before anything was inferred."""
    for noun, access in facts.accesses[statement]:
        if facts.nouns[noun].get("kind") != "field":
            continue
        if is_around(facts, known, noun, access):
            add(touched, noun, access)
        if any(facts.nouns[o].get("kind") == "field" and known[o] & access for o in known):
            continue
        for base, base_access in known.items():
            is_pointer = not base_access & THROUGH and "*" in facts.nouns[base].get("type", "")
            if (facts.is_data(base) and facts.nouns[base].get("kind") != "field" and (is_pointer or base_access & access)
                    and facts.may_hold(base, noun)):
                add(touched, noun, access)


def add_other_ways(facts, touched, statement):
    """What a statement reads and writes: whichever of its code that touches it is for both."""
    for noun, access in facts.accesses[statement]:
        if noun in touched and facts.is_data(noun):
            add(touched, noun, access)


def names_any(facts, touched, statement):
    return any(noun in touched and facts.is_data(noun) for noun, _ in facts.accesses[statement])


def objects_of(facts, tuple_, block):
    """What the map says, and what mapping/collect/touched.c infers from the statement. Of what is passed on no one says that it is touched."""
    return {noun for noun, access in touched_of(facts, tuple_, block).items() if access & (READS | WRITES)}


def add_ways_of_code(facts, touched, tuple_, block, statement):
    """Of what the statement does not name, or in code that was inlined: what the rest of its code does with it."""
    named = {noun for noun, _ in facts.accesses[statement]}
    if not tuple_.site and all(noun in named or not facts.is_data(noun) for noun in touched):
        return
    for other in block.ranges:
        if other.tuple.loop == tuple_.loop and user_place(facts, other.tuple, block) == user_place(facts, tuple_, block):
            for noun, access in other.tuple.objects:
                if noun in touched and facts.is_data(noun):
                    touched[noun] |= access


def touched_of(facts, tuple_, block):
    touched = {}
    for noun, access in tuple_.objects:
        add(touched, noun, access)
    kind = decode.KINDS[tuple_.kind]
    passes = tuple_.unnamed or any(not access & (READS | WRITES) for _, access in tuple_.objects)
    if tuple_.line and kind == "call" and passes:
        add_passed(facts, touched, tuple_, block)
    elif tuple_.line and kind == "call":  # memcpy of an object is of its fields
        add_fields(facts, touched, statement_of(facts, tuple_, block), dict(touched))
    if not tuple_.line or kind not in ("ordinary", "spill"):
        return touched
    statement = statement_of(facts, tuple_, block)
    if not has_data(facts, touched) and not tuple_.unnamed:
        for other in block.ranges:
            if other.tuple.loop == tuple_.loop and user_place(facts, other.tuple, block) == user_place(facts, tuple_, block):
                for noun, access in other.tuple.objects:
                    add(touched, noun, access)
    if not has_data(facts, touched):
        for noun, access in facts.accesses[statement]:
            if facts.is_data(noun):
                add(touched, noun, access)
    known = dict(touched)
    # vectorised code of a loop's body has the place of the loop, too
    is_of_body = facts.controls(tuple_, block) and (tuple_.unnamed or tuple_.objects) and not names_any(facts, known, statement)
    add_fields(facts, touched, statement, known)
    add_other_ways(facts, touched, statement)
    add_ways_of_code(facts, touched, tuple_, block, statement)
    for _, _, function, file, line, column in tuple_.also:
        other = facts.statement(function, file, line, column)
        add_fields(facts, touched, other, known)
        for noun, access in facts.accesses[other] if is_of_body else ():
            if facts.is_data(noun):
                add(touched, noun, access)
    is_field = any(facts.nouns[noun].get("kind") == "field" for noun in touched)
    if tuple_.loop and has_data(facts, touched) and not is_field and not names_any(facts, touched, statement):
        known = dict(touched)
        for neighbour in facts.within[tuple_.loop]:
            if names_any(facts, known, neighbour):
                add_fields(facts, touched, neighbour, known)
    if facts.controls(tuple_, block):
        add_all(touched, objects_of_loop(facts, tuple_.loop, block))
    return touched


def add_objects_of_members(facts, touched, tuple_, block):
    """What a method does with members of its object that are no arrays themselves, it does with the arrays of objects that it is called for,
    unless it is known whose members they are: by the map, and by what else a method that was inlined touches."""
    site = user_place(facts, tuple_, block)[0]
    bases = [noun for noun in (touched if site else {noun for noun, _ in tuple_.objects}) if facts.is_data(noun) and facts.nouns[noun].get("kind") != "field"]
    members = {noun for noun in touched if facts.nouns[noun].get("kind") == "field" and not re.search("[*[&]", without_arguments(facts.nouns[noun].get("type", "")))
               and not any(facts.may_hold(base, noun) for base in bases)}
    if not tuple_.line or not members:
        return touched
    callers, around = set(), block.sites[site - 1].parent if site else 0
    while around:
        callers.add(block.sites[around - 1].function)
        around = block.sites[around - 1].parent
    found = facts.called_for(block.sites[site - 1].function if site else block.functions[0], callers, block.functions[0] if site else 0)
    return touched | {noun for noun in found if any(facts.is_of_objects(noun, member) for member in members)}


def add_passed(facts, touched, tuple_, block):
    """A call of C++'s library: what it is passed, in the ways in which the statement touches that."""
    statement = statement_of(facts, tuple_, block)
    if not has_data(facts, touched) or tuple_.unnamed:
        for noun, access in facts.accesses[statement]:
            if facts.is_data(noun):
                add(touched, noun, access)
    add_other_ways(facts, touched, statement)
    add_fields(facts, touched, statement, dict(touched))
    if facts.controls(tuple_, block):
        add_all(touched, objects_of_loop(facts, tuple_.loop, block))


def objects_of_loop(facts, loop, block):
    touched = {}
    for other in {other.tuple for other in block.ranges if other.tuple.loop == loop and (other.tuple.objects or other.tuple.unnamed)}:
        own = {}
        for noun, access in other.objects:
            add(own, noun, access)
        statement = statement_of(facts, other, block)
        for noun, access in facts.accesses[statement] if not other.objects else ():
            if facts.is_data(noun):
                add(own, noun, access)
        add_fields(facts, own, statement, dict(own))
        add_other_ways(facts, own, statement)
        add_all(touched, own)
    if not has_data(facts, touched):
        for statement in facts.within[loop]:
            for data, access in facts.accesses[statement]:
                if facts.is_data(data):
                    add(touched, data, access)
    touched = {noun: access for noun, access in touched.items() if facts.is_data(noun)}
    return touched if len(touched) <= OF_LOOP_MAX else {}


def loop_of(facts, tuple_, block):
    """The loop the code lies in; of rounds that were peeled off a loop within that one, and of what was moved out of it: that loop, when
    it has code of the same statement."""
    if tuple_.also or tuple_.kind in (FRAME, PADDING) or not tuple_.line or not tuple_.column:
        return tuple_.loop
    function = own_function(tuple_, block)
    known = facts.statements.get((function, facts.nouns[tuple_.file].get("name")), [])
    found = next((noun for line, column, noun in known if (line, column) == (tuple_.line, tuple_.column)), None)
    loop = int(facts.nouns[found].get("parent", "0"), 16) if found else 0
    if loop == tuple_.loop or facts.nouns.get(loop, {}).get("kind") != "loop":
        return tuple_.loop
    around = loop
    while around and around != (tuple_.loop or function):
        around = int(facts.nouns.get(around, {}).get("parent", "0"), 16)
    same = any(r.tuple[2:6] == tuple_[2:6] and r.tuple.loop == loop for r in block.ranges)
    return loop if around and same else tuple_.loop


def constructs(facts, tuple_, block, by):
    """The set that code of the tuple counts for."""
    others = set()  # functions of which no statement is known at the place: the whole function
    statements, fused = set(), set()
    for function, file, line, column, reason in places(tuple_, block):
        statements.add(facts.statement(function, file, line, column))
        if reason:
            fused.add(facts.loop(facts.statement(function, file, line, column)))
    block_noun = tuple_.loop or own_function(tuple_, block)
    if not statements and not tuple_.loop and not tuple_.site:  # frames of functions with equal code that were made one
        others |= {also[2] for other in block.ranges for also in other.tuple.also if decode.REASONS[also[0]] == "folded"}
        others |= {block.functions[0]} if others else set()
    if tuple_.kind == FRAME:
        frames = {facts.frame(function) for function in others | {own_function(tuple_, block)}}
        statements |= frames
        others = set() if by == "statement" else others
    if by == "array":
        touched = add_objects_of_members(facts, objects_of(facts, tuple_, block), tuple_, block)
        touched = {noun for noun in touched if facts.is_array(noun)}
        return frozenset(touched or {None})
    if by == "loop":
        loop = loop_of(facts, tuple_, block)
        return frozenset(({loop} if loop else set()) | fused | others or {block_noun})
    found = statements | others or {block_noun}
    return frozenset(map(facts.function, found)) if by == "function" else frozenset(found)


def costs_by_set(facts, by, ranges, counts):
    begins = [r[0] for r in ranges]
    result, sets = collections.Counter(), {}
    for address, lines in counts.items():
        at = bisect.bisect_right(begins, address) - 1
        if at < 0 or address >= ranges[at][1]:
            result[None] += sum(lines.values())
            continue
        block, tuple_ = ranges[at][2:]
        if tuple_.kind == SLED:
            result["perfmap"] += sum(lines.values())
            continue
        key = id(tuple_)
        if key not in sets:
            found = constructs(facts, tuple_, block, by)
            sets[key] = frozenset("(no array)" if noun is None else facts.key(noun) for noun in found)
        result[sets[key]] += sum(lines.values())
    return +result


# --- the report ---


def noun_key(noun):
    return noun["kind"], noun["name"], noun["function"] if noun["kind"] != "function" else noun["name"], noun["line_no"], noun["column_no"]


def read_report(facts, folder, by, rule, binary, total):
    """Rows: set of constructs -> (own, at least, at most). Rows of code without a map are added up under None."""
    report = json.load(open(f"{folder}/{by}.{rule}.json"))
    rows = collections.defaultdict(lambda: [0, 0, 0])
    known = {facts.key(noun) for noun in facts.nouns if facts.nouns[noun].get("kind") != "function" or noun in facts.with_map}
    for row in report["rows"]:
        if row["kind"] == "perfmap":
            key = "perfmap"
        elif row["kind"] == "no object":
            key = NO_ARRAY
        elif row["kind"] in ("unmapped", "outside", "kernel", "object not known") or any(noun["binary"] != binary or noun["level"] != "Source" for noun in row["nouns"]):
            key = None
        else:
            key = frozenset(map(noun_key, row["nouns"]))
            key = key if key <= known else None  # by debug information
        for i, name in enumerate(("own", "at_least", "at_most")):
            rows[key][i] += row.get(name + "_instructions") or 0
        if row["kind"] in ("array", "variable", "set") and "own_instructions" in row["incomplete"]:
            rows[key][2] = math.inf  # its address goes where nobody follows it: there is no bound
    own = sum(row[0] for row in rows.values())
    if own != total or report["total"]["own_instructions"] != total:
        fail(f"{by}, {rule}: total {report['total']['own_instructions']}, the rows {own}, callgrind {total}")
    return rows


def show(key):
    if isinstance(key, (str, type(None))):
        return str(key)
    return "{" + ", ".join(sorted(part if isinstance(part, str) else f"{part[0]} {part[1]} in {part[2]}" for part in key)) + "}"


def compare_amounts(what, expected, seen, tolerance=0):
    for key in sorted(set(expected) | set(seen), key=show):
        if key == NO_ARRAY and seen.get(key, 0) >= expected.get(key, 0):  # libraries' code is in that row, too
            continue
        if abs(expected.get(key, 0) - seen.get(key, 0)) > tolerance:
            fail(f"{what}: {show(key)} has {seen.get(key, 0)}, not {expected.get(key, 0)}")


def close(sets):
    """Unites sets that overlap."""
    leader = {}

    def find(x):
        while leader.setdefault(x, x) != x:
            x = leader[x]
        return x

    for members in sets:
        for member in members:
            leader[find(member)] = find(min(members, key=show_member))
    groups = collections.defaultdict(set)
    for member in list(leader):
        groups[find(member)].add(member)
    return {member: frozenset(groups[find(member)]) for member in leader}


def show_member(member):
    return show(frozenset({member}))


def without_map(expected, seen):
    """What functions have beyond the map's code: that of other copies of them, which have no map (system headers), by debug information."""
    one_function = (key for key in seen if isinstance(key, frozenset) and len(key) == 1 and next(iter(key))[0] == "function")
    return {key: seen[key] - expected.get(key, 0) for key in one_function if seen[key] > expected.get(key, 0)}


def compare_rules(facts, by, ranges, counts, binary, folder, total):
    expected = costs_by_set(facts, by, ranges, counts)
    spare = expected.pop(None, 0)
    reports = {rule: read_report(facts, folder, by, rule, binary, total) for rule in ("merge", "closed", "split", "instructions")}
    own = {rule: {key: row[0] for key, row in rows.items() if key is not None and row[0]} for rule, rows in reports.items()}
    for key, cost in without_map(expected, own["merge"]).items():
        spare -= cost
        expected[key] += cost
    if spare < 0:
        fail(f"{by}: functions have {-spare} more than their code")
    compare_amounts(f"{by}, merge", expected, own["merge"])
    mapped = {key: cost for key, cost in expected.items() if key != "perfmap"}

    least, most = collections.Counter(), collections.Counter()
    for members, cost in mapped.items():
        for member in members - NO_ARRAY:
            one = frozenset({member})
            most[one] += cost
            least[one] += cost if len(members) == 1 else 0
    bounds = {key: row for key, row in reports["merge"].items() if isinstance(key, frozenset) and len(key) == 1 and key != NO_ARRAY}
    compare_amounts(f"{by}, at least", least, {key: row[1] for key, row in bounds.items()})
    bounded = {key for key, row in bounds.items() if row[2] != math.inf}
    if bounds and not bounded:
        fail(f"{by}: no row has a bound")
    compare_amounts(f"{by}, at most", {key: amount for key, amount in most.items() if key in bounded or key not in bounds},
                    {key: bounds[key][2] for key in bounded})

    united = close(mapped)
    closed = collections.Counter({"perfmap": expected.get("perfmap", 0)})
    for members, cost in mapped.items():
        closed[united[next(iter(members))]] += cost
    compare_amounts(f"{by}, closed", +closed, own["closed"])

    equal, weighed = collections.Counter(), collections.Counter()
    for members, cost in mapped.items():
        weights = {member: least[frozenset({member})] for member in members}
        of = sum(weights.values())
        for member in members:
            key = frozenset({member})
            equal[key] += cost / len(members)
            weighed[key] += cost * (weights[member] / of if of else 1 / len(members))
    for rule, shares in (("split", equal), ("instructions", weighed)):
        shares["perfmap"] = expected.get("perfmap", 0)
        compare_amounts(f"{by}, {rule}", shares, own[rule], len(mapped) + 1)
        for key, row in bounds.items():
            amount = own[rule].get(key, 0)
            if not row[1] <= amount <= row[2]:
                fail(f"{by}, {rule}: {show(key)} has {amount}, outside of {row[1]} to {row[2]}")
    n_shared = sum(len(members) > 1 for members in mapped)
    shared = sum(cost for members, cost in mapped.items() if len(members) > 1)
    print(f"{by}: {len(mapped)} sets, {n_shared} of several constructs with {100 * shared / total:.2f} % of the cost, all equal")
    return expected


# --- lines ---


def line_rows(binary, sled_ends):
    """Addresses at which the line table has a row. Behind inline assembler, as sleds are, GCC repeats the row that was before."""
    text = subprocess.run(["readelf", "-wL", binary], check=True, capture_output=True, text=True, errors="replace").stdout
    rows, last = set(), None
    for name, line, address in re.findall(r"^(\S+) +(\d+) +(0x[0-9a-f]+)", text, re.M):
        if (name, line) != last or int(address, 16) not in sled_ends:
            rows.add(int(address, 16))
        last = name, line
    return rows


def block_begins(binary):
    """Addresses that jumps lead to, that follow jumps and calls (which may throw), and those of symbols; and all instructions in order."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], check=True, capture_output=True, text=True, errors="replace").stdout
    begins = {int(m, 16) for m in re.findall(r"^([0-9a-f]+) <", text, re.M)}
    begins |= {int(m, 16) for m in re.findall(r"\tj\w+ +(?:[a-z]+ +)?([0-9a-f]+) ", text)}
    order = [int(m, 16) for m in re.findall(r"^ +([0-9a-f]+):\t", text, re.M)]
    begins |= {int(m, 16) for m in re.findall(r"(?<=:\t)(?:notrack |bnd )?(?:j|ret|ud2|call)[^\n]*\n +([0-9a-f]+):", text)}
    return begins, order


def without_location(binary, ranges):
    """Instructions of blocks before the block's first row. Behind a sled a block begins."""
    sled_ends = {end for _, end, _, tuple_ in ranges if tuple_.kind == SLED}
    rows, (begins, order) = line_rows(binary, sled_ends), block_begins(binary)
    begins |= sled_ends
    result, has_row = set(), False
    for address in order:
        has_row = address in rows or (has_row and address not in begins)
        if not has_row:
            result.add(address)
    return result


def compare_lines(facts, binary, ranges, counts):
    begins = [r[0] for r in ranges]
    bare = without_location(binary, ranges)
    alone, most, seen, moved = (collections.Counter() for _ in range(4))
    why = collections.Counter()
    wrong, astray = collections.Counter(), []
    for address, lines in counts.items():
        at = bisect.bisect_right(begins, address) - 1
        if at < 0 or address >= ranges[at][1]:
            continue
        block, tuple_ = ranges[at][2:]
        (file, line), cost = lines.most_common(1)[0][0], sum(lines.values())
        base = os.path.basename(file)
        where = set()
        spans = []
        keys = [facts.statement(*place[:4]) for place in places(tuple_, block)]
        keys += [facts.frame(own_function(tuple_, block))] if tuple_.kind == FRAME else []
        for noun in (facts.nouns[key] for key in keys):
            name = os.path.basename(noun.get("file") or "")
            where.add((name, noun.get("line", 0)))
            spans.append((name, noun.get("line", 0), max(noun.get("end_line") or 0, noun.get("line", 0))))
        for place in where:
            most[place] += cost
            alone[place] += cost if len(where) == 1 else 0
        seen[base, line] += cost
        if (base, line) in where:
            why["same"] += cost
            continue
        is_end = any(facts.is_end(key, base, line) for key in keys)
        if tuple_.kind in (FRAME, SLED, PADDING) or is_end or facts.is_head(block.functions[0], base, line):
            reason = "frame"
        elif any(name == base and first <= line <= last for name, first, last in spans):
            reason = "several lines"
        elif address in bare:
            reason = "no location"
        else:
            reason = "other"
            wrong[base, line] += cost
            for place in where:
                wrong[place] += cost
            astray.append((cost, address, line, sorted(where)))
        why[reason] += cost
        if reason != "other":
            moved[base, line] -= cost
            for place in where:
                moved[place] += cost if len(where) == 1 else 0
    of = sum(why.values())
    n_plain = n_alone = n_within = n_shared = 0
    for place, cost in most.items():
        if alone[place] == cost and place not in wrong:
            n_alone += 1
            n_plain += seen[place] == cost
            if seen[place] + moved[place] != cost:
                fail(f"line {place}: alone it has {cost}, callgrind {seen[place]}, of which {moved[place]:+} are moved")
        elif place not in wrong:
            n_shared += 1
            n_within += alone[place] <= seen[place] + max(moved[place], 0) and seen[place] + min(moved[place], 0) <= cost
    if n_within != n_shared:
        fail(f"{n_shared - n_within} lines that share code are outside of their bounds")
    print(f"lines: {n_alone} alone, {n_plain} of them as they stand, {n_shared} shared, {len(wrong)} astray;",
          ", ".join(f"{reason} {100 * cost / max(of, 1):.2f} %" for reason, cost in why.most_common()))
    for cost, address, line, where in sorted(astray, reverse=True)[:8]:
        print(f"  astray: {address:x} callgrind line {line}, the map {where}: {cost}")
    if astray:
        fail(f"{len(astray)} addresses are of other lines than the map's")


def main():
    binary, callgrind, pif, folder = sys.argv[1:]
    blocks = [block for block in decode.read_blocks(binary) if not decode.is_dropped(block)]
    facts = Facts(pif, blocks)
    ranges = sorted(((r.begin, r.end, block, r.tuple) for block in blocks for r in block.ranges if r.end > r.begin), key=lambda r: r[:2])
    counts, total = read_callgrind(callgrind, os.path.abspath(binary))
    if not counts:
        fail(f"{callgrind} has no cost of {binary}")
    for by in ("statement", "function", "loop", "array"):
        compare_rules(facts, by, ranges, counts, os.path.abspath(binary), folder, total)
    compare_lines(facts, binary, ranges, counts)


main()

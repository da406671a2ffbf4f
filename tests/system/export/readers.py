"""Readers of what perfmap export writes that know nothing of it: protoc with the published numbers of fields, callgrind_annotate, otf2-print, json."""
import collections
import os
import re
import subprocess

here = os.path.dirname(os.path.abspath(__file__))


def protoc(file, message, data):
    """The text of a message, decoded by the published schema. Unknown fields are a fault of ours: they show as numbers."""
    done = subprocess.run(["protoc", f"--proto_path={here}", f"--decode={message}", file], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"protoc: {done.stderr.decode()[:2000]}")
    return done.stdout.decode()


ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")
SIMPLE = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"'": b"'", b"\\": b"\\"}


def unquoted(text):
    """A string of protobuf's text format."""
    raw = ESCAPE.sub(lambda m: SIMPLE.get(m[1]) or bytes([int(m[1], 8)]), text.encode())
    return raw.decode()  # fails when it is no UTF-8


def value_of(text):
    if text.startswith('"'):
        return unquoted(text[1:-1])
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", text) else text  # a word: true, an enum's


def messages(text):
    """protobuf's text format: a message is {field: [values]}."""
    top = collections.defaultdict(list)
    stack = [top]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            name = line[:-1].strip()
            inner = collections.defaultdict(list)
            stack[-1][name].append(inner)
            stack.append(inner)
        elif line == "}":
            stack.pop()
        elif line:
            name, value = line.split(": ", 1)
            if name.isdigit():
                raise AssertionError(f"field {name} is not in the schema")
            stack[-1][name].append(value_of(value))
    return top


class Pprof:
    """Samples as dicts: frames (innermost first: name, file, line), values by type, labels."""

    def __init__(self, data):
        p = messages(protoc("profile.proto", "perftools.profiles.Profile", data))
        strings = p["string_table"]
        assert strings[0] == "", strings[0]
        one = lambda m, key: m[key][0] if m[key] else 0
        functions = {one(f, "id"): f for f in p["function"]}
        locations = {one(l, "id"): l for l in p["location"]}
        assert len(functions) == len(p["function"]) and 0 not in functions
        assert len(locations) == len(p["location"]) and 0 not in locations
        self.types = [strings[one(t, "type")] for t in p["sample_type"]]
        self.units = [strings[one(t, "unit")] for t in p["sample_type"]]
        self.default = strings[one(p, "default_sample_type")]
        self.comments = [strings[c] for c in p["comment"]]
        self.samples = []
        for s in p["sample"]:
            frames = []
            for i in s["location_id"]:
                for line in locations[i]["line"]:
                    f = functions[one(line, "function_id")]
                    frames.append((strings[one(f, "name")], strings[one(f, "filename")], one(line, "line")))
            assert len(s["value"]) == len(self.types), s
            labels = {strings[one(l, "key")]: strings[one(l, "str")] if l["str"] else one(l, "num") for l in s["label"]}
            self.samples.append({"frames": frames, "values": dict(zip(self.types, s["value"])), "labels": labels})

    def totals(self):
        return {t: sum(s["values"][t] for s in self.samples) for t in self.types}


def annotated(path, inclusive=False):
    """callgrind_annotate's total and its functions: (events, totals, {function: costs})."""
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", f"--inclusive={'yes' if inclusive else 'no'}", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode("utf-8", "replace")[:2000]
    text = done.stdout.decode()  # fails when it is no UTF-8
    events = re.search(r"^Events shown: +(.*)$", text, re.M)[1].split()
    cost = r"([\d,]+)(?: +\([ \d.]+%\))?\s+|(\.)\s+"
    totals, functions = None, {}
    for line in text.splitlines():
        numbers, rest = [], line.strip()
        while m := re.match(cost, rest):
            numbers.append(int((m[1] or "0").replace(",", "")))
            rest = rest[m.end():]
        if len(numbers) != len(events):
            continue
        if rest == "PROGRAM TOTALS":
            totals = numbers
        else:
            assert rest not in functions, rest
            functions[rest] = dict(zip(events, numbers))
    return events, dict(zip(events, totals)), functions


def folded(text):
    """Stacks, outermost first, and their numbers."""
    found = []
    for line in text.splitlines():
        stack, number = line.rsplit(" ", 1)
        found.append((stack.split(";"), int(number)))
    return found


class Perfetto:
    """Slices by track, as (begin, end, name, {annotations}, category), in the order of their ends; flows by number: the slices they touch."""

    def __init__(self, data):
        self.tracks, self.slices, self.flows, self.notes = {}, collections.defaultdict(list), collections.defaultdict(list), []
        self.counters = collections.defaultdict(list)  # by track: (time, value)
        names, categories, places, open_slices, latest = {}, {}, {}, collections.defaultdict(list), collections.defaultdict(int)
        one = lambda m, key, default=None: m[key][0] if m[key] else default
        first = True
        for packet in messages(protoc("perfetto_trace.proto", "perfetto.protos.Trace", data))["packet"]:
            assert packet["trusted_packet_sequence_id"] == [1]
            assert one(packet, "sequence_flags") & 1 == first, "only the first packet begins a sequence"
            first = False
            for interned in packet["interned_data"]:
                for table, key in (names, "event_names"), (categories, "event_categories"), (places, "source_locations"):
                    for entry in interned[key]:
                        assert one(entry, "iid") not in table and one(entry, "iid"), entry
                        table[one(entry, "iid")] = one(entry, "name") if key != "source_locations" else (one(entry, "file_name"), one(entry, "line_number"))
            for track in packet["track_descriptor"]:
                self.tracks[one(track, "uuid")] = track
            for event in packet["track_event"]:
                uuid, at, kind = one(event, "track_uuid"), one(packet, "timestamp"), one(event, "type")
                assert uuid in self.tracks, uuid
                assert at >= latest[uuid], (at, latest[uuid])
                latest[uuid] = at
                if kind == "TYPE_COUNTER":
                    self.counters[uuid].append((at, one(event, "counter_value")))
                    continue
                if kind == "TYPE_INSTANT":
                    self.notes.append(one(event, "name"))
                    continue
                if kind == "TYPE_SLICE_BEGIN":
                    notes = {one(a, "name"): one(a, "string_value") for a in event["debug_annotations"]}
                    assert len(notes) == len(event["debug_annotations"]), notes
                    if event["source_location_iid"]:
                        notes["place"] = places[one(event, "source_location_iid")]
                    open_slices[uuid].append([at, None, names[one(event, "name_iid")], notes, categories[one(event, "category_iids")]])
                    current = open_slices[uuid][-1]
                else:
                    current = open_slices[uuid].pop()
                    current[1] = at
                    self.slices[uuid].append(current)
                for flow in event["flow_ids"]:
                    self.flows[flow].append((uuid, current))
        assert not any(open_slices.values()), "slices that never end"

    def thread_of(self, uuid):
        """(pid, tid); of a track of other stacks those of the thread that it hangs below."""
        track = self.tracks[uuid]
        while not track["thread"]:  # counters, too
            track = self.tracks[track["parent_uuid"][0]]
        return track["thread"][0]["pid"][0], track["thread"][0]["tid"][0]


def chrome(text):
    """Slices by (pid, tid), as (begin ns, end ns, name, args, category), in the order of their ends."""
    import json
    slices, open_slices, names = collections.defaultdict(list), collections.defaultdict(list), {}
    told = json.loads(text)
    for e in told["traceEvents"]:
        key = e["pid"], e["tid"]
        if e["ph"] == "M":
            names[key, e["name"]] = e["args"]["name"]
            continue
        at = round(e["ts"] * 1000)
        if e["ph"] == "B":
            open_slices[key].append([at, None, e["name"], e.get("args", {}), e["cat"]])
        else:
            assert e["ph"] == "E", e
            done = open_slices[key].pop()
            assert at >= done[0], (at, done)
            done[1] = at
            slices[key].append(done)
    assert not any(open_slices.values())
    return slices, names, told["otherData"]["notes"]


def speedscope_events(profile, frames):
    """Slices of an evented profile, as speedscope's own importer checks it: times never go back, and what is closed is what was opened last."""
    assert profile["type"] == "evented"
    stack, slices, latest = [], [], profile["startValue"]
    for e in profile["events"]:
        assert latest <= e["at"] <= profile["endValue"], e
        latest = e["at"]
        if e["type"] == "O":
            stack.append((e["at"], e["frame"]))
        else:
            at, frame = stack.pop()
            assert frame == e["frame"], e
            slices.append((at, e["at"], frames[frame]["name"]))
    assert not stack
    return slices


class Otf2:
    """What otf2-print says of an archive: slices by location as (begin, end, name, {attributes}), messages as (is_send, location, time, peer, communicator,
    tag), locations and regions."""

    def __init__(self, folder):
        told = subprocess.run(["otf2-print", f"{folder}/traces.otf2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert told.returncode == 0 and not told.stderr, told.stderr.decode()[:2000]
        defined = subprocess.run(["otf2-print", "-G", f"{folder}/traces.otf2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        assert not defined.stderr, defined.stderr.decode()[:2000]
        self.description = subprocess.run(["otf2-print", "-A", f"{folder}/traces.otf2"], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.locations, self.regions = {}, {}
        for line in defined.stdout.decode().splitlines():
            if m := re.match(r'LOCATION +(\d+)  Name: "(.*?)" <.*# Events: (\d+), Group: "(.*)" <', line):
                self.locations[int(m[1])] = m[2], int(m[3]), m[4]
            elif m := re.match(r'REGION +(\d+)  Name: "(.*)" <\d+> \(Aka.*Descr\.: "(.*?)" <\d+>, Role: (\w+), Paradigm: (\w+),.*Begin: (\d+)', line):
                self.regions[int(m[1])] = m[2], m[3], m[4], m[5], int(m[6])
        self.slices, self.messages = collections.defaultdict(list), []
        stacks, latest = collections.defaultdict(list), collections.defaultdict(int)
        for line in told.stdout.decode().splitlines():
            if m := re.match(r'(ENTER|LEAVE) +(\d+) +(\d+) +Region: "(.*)" <(\d+)>$', line):
                kind, location, time, name, region = m[1], int(m[2]), int(m[3]), m[4], int(m[5])
                assert self.regions[region][0] == name, line
                assert time >= latest[location], line
                latest[location] = time
                if kind == "ENTER":
                    current = [time, None, name, {}]
                    stacks[location].append(current)
                else:
                    current = stacks[location].pop()
                    assert current[2] == name, (current, line)
                    current[1] = time
                    self.slices[location].append(current)
            elif m := re.match(r" +ADDITIONAL ATTRIBUTES: (.*)", line):
                current[3].update(re.findall(r'\("(.*?)" <\d+>; STRING; "(.*?)" <\d+>\)', m[1]))
            elif m := re.match(r'MPI_(SEND|RECV) +(\d+) +(\d+) +(?:Receiver|Sender): (\d+) \("(.*?)" <(\d+)>\), Communicator: "(.*?)" <\d+>, Tag: (\d+), Length: 0', line):
                self.messages.append((m[1] == "SEND", int(m[2]), int(m[3]), int(m[6]), m[7], int(m[8])))
            else:
                assert not line.strip() or line.startswith(("===", "---", "Event ")), line
        assert not any(stacks.values())
        for location, (_, n_events, _) in self.locations.items():
            n = 2 * len(self.slices[location]) + sum(m[1] == location for m in self.messages)
            assert n == n_events, (location, n, n_events)

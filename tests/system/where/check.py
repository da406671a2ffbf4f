"""check.py PERFMAP ARCHIVE AXIS... | ARCHIVE locks | ARCHIVE stencil: places of where axes add up; what the programs of this test did is there."""
import json
import subprocess
import sys

perfmap, archive, what = sys.argv[1], sys.argv[2], sys.argv[3:]


def report(*options):
    return json.loads(subprocess.run([perfmap, "report", "--json", *options, archive], check=True, capture_output=True, text=True).stdout)


def check_sums(axis, told, slack):
    """Every row is what it has itself and what is in it; tops are the total."""
    rows = {row["id"]: row for row in told["rows"]}
    for metric in (m["name"] for m in told["metrics"]):
        own, inclusive = "own_" + metric, "inclusive_" + metric
        inside = {number: 0 for number in rows}
        top = 0
        for row in rows.values():
            if row["parent"] is None:
                top += row[inclusive]
            else:
                inside[row["parent"]] += row[inclusive]
        for number, row in rows.items():
            assert row[inclusive] == (row[own] or 0) + inside[number], (axis, metric, row)
        total = told["total"][own]
        assert top == total and sum(row[own] or 0 for row in rows.values()) == total, (axis, metric, top, total)
        flat = report("--by", "function", "--metric", metric, "--fold", "none")["total"][own]
        assert abs(flat - total) <= slack, (axis, metric, flat, total)


def check_axes(axes):
    for axis in axes:
        for options in ([], ["--metric", "time"]):
            told = report("--by", axis, *options)
            assert told["rows"] and told["view"]["shape"] == "tree", axis
            check_sums(axis, told, 0)
        print(f"{archive} {axis}: {len(told['rows'])} places", end="; ")
    print()


def path_of(told, row):
    rows = {row["id"]: row for row in told["rows"]}
    names = []
    while row is not None:
        names.insert(0, row["what"])
        row = rows[row["parent"]] if row["parent"] is not None else None
    return tuple(names)


def places(*options):
    told = report(*options)
    return {path_of(told, row): row for row in told["rows"]}


def check_locks():
    at = places("--by", "sync", "--metric", "wait_ns,n_calls")
    till = [row for path, row in at.items() if path == ("locks", "till")][0]
    assert till["n_calls"] >= 4 * 50 * 20, till  # and the times that it was not free
    acquired = json.loads(subprocess.run([perfmap, "ask", "--json", "{till Acquire}", archive], check=True, capture_output=True, text=True).stdout)
    assert sum(row["n_times"] for row in acquired["rows"]) == 4 * 50 * 20, acquired
    assert at["barriers", "line"]["n_calls"] == 4 * 50 and at["barriers", "line"]["own_wait_ns"] > 0, at
    assert ("conditions", "opened") in at, list(at)
    # One node of three axes: the till, in sell, of one thread.
    told = report("--by", "sync", "--focus", "mutex:till", "--focus", "func:sell", "--metric", "n_calls")
    assert [row["what"] for row in told["rows"]] == ["locks", "till"], told["rows"]
    told = report("--by", "sync", "--focus", "mutex:till", "--focus", "func:main", "--focus", "barrier:line")
    assert not told["rows"] and "at once" in told["warnings"][0], told["warnings"]
    print(f"{archive}: till taken {till['n_calls']} times")


def check_stencil():
    n, rounds, row = 4, 40, 500 * 8
    at = places("--by", "mpi")
    for tag in (1, 2):
        place = at["grid", f"tag {tag}"]
        assert place["inclusive_messages"] == (n - 1) * rounds and place["inclusive_message_bytes"] == (n - 1) * rounds * row, place
    for rank in range(n):
        tags = [at.get(("grid", f"tag {tag}", f"rank {rank}")) for tag in (1, 2)]
        sent = sum(place["own_messages"] for place in tags if place)
        assert sent == rounds * ((rank > 0) + (rank < n - 1)), (rank, sent)  # to it
    assert at["half",]["own_message_bytes"] == n * rounds * 8, at["half",]
    assert at["MPI_COMM_WORLD",]["inclusive_messages"] == 0, at
    at = places("--by", "sync", "--metric", "messages,message_bytes,mpi_ns")
    assert at["messages", "grid"]["inclusive_messages"] == 2 * (n - 1) * rounds, at
    assert at["collective operations", "half"]["own_message_bytes"] == n * rounds * 8, at
    assert at["barriers", "MPI_COMM_WORLD"]["own_mpi_ns"] > 0, at
    # One node of each axis: what exchange sends with tag 1 on rank 3, which is the last one: nothing; on rank 0 one row a round.
    for rank, messages in ((0, rounds), (3, 0)):
        told = report("--level", "mpi", "--focus", "func:exchange", "--focus", "tag:tag 1", "--focus", f"rank:{rank}", "--on", "node:*", "--metric", "messages")
        assert told["total"]["own_messages"] == messages, (rank, told["total"])
    told = report("--by", "data", "--focus", "func:relax", "--focus", "rank:2")
    names = {row["what"] for row in told["rows"]}
    few = told["total"]["own_cpu_ns"] < 25e6  # on a busy machine a short run has few samples of rank 2, perhaps none where it touches data
    assert few or any("grid" in name or "next" in name for name in names), (names, told["total"])
    spread = report("--by", "mpi", "--axis", "rank", "--metric", "messages")
    tag = [row for row in spread["rows"] if row["what"] == "tag 1"][0]
    assert (tag["min_messages"], tag["max_messages"], tag["average_messages"]) == (0, rounds, rounds * 3 / 4), tag
    # Ranks in communicators: even and odd ones have halves of one name.
    ranks = {}
    for row in report("--by", "process", "--on", "rank:*")["rows"]:
        for member in row["process"]["ranks"]:
            ranks.setdefault((row["process"]["rank"], member["communicator"]), (member["rank"], member["size"]))
    for rank in range(n):
        assert (ranks[rank, "MPI_COMM_WORLD"], ranks[rank, "grid"], ranks[rank, "half"]) == ((rank, n), (rank, n), (rank // 2, 2)), ranks
    of = {row["rank"] for row in report("--by", "rank", "--on", "rank:half/1", "--metric", "messages")["rows"]}
    assert of == {2, 3}, of
    answer = json.loads(subprocess.run([perfmap, "ask", "--json", "--metric", "message_bytes", "{half AllReduce} on rank half/0", archive], check=True, capture_output=True, text=True).stdout)
    assert answer["answer"]["message_bytes"] == 2 * rounds * 8, answer
    print(f"{archive}: messages, bytes as sent, ranks in communicators")


if what == ["locks"]:
    check_locks()
elif what == ["stencil"]:
    check_stencil()
else:
    check_axes(what)

"""live.py PERFMAP PROGRAM SCRIPT ANSWERS: some of the model's questions, asked of the program while it runs: the intervals add up to the model's sums."""
import json
import os
import subprocess
import sys
import time

perfmap, program, script, answers = sys.argv[1:]
METRICS = ["rows", "moved_bytes"]
QUESTIONS = 5


class Asker:
    def __init__(self, pid, line, number):
        self.question, *sums = line.rstrip("\n").split("\t")
        self.expected = [int(n) for n in sums[:2]]
        self.out = f"live{number}.json"
        self.process = subprocess.Popen([perfmap, "ask", "--live", pid, self.question, "--json", "--metric", ",".join(METRICS), "--every", "300ms"],
                                        stdout=open(self.out, "w"), stderr=subprocess.PIPE)

    def has_begun(self):
        """What was there before is not of the first interval: it has begun when something is printed."""
        while os.path.getsize(self.out) == 0:
            if self.process.poll() is not None:
                sys.exit(f"{self.question}: {self.process.stderr.read().decode()}")
            time.sleep(0.05)

    def sums(self):
        _, err = self.process.communicate(timeout=600)
        if self.process.returncode:
            sys.exit(f"{self.question}: exit status {self.process.returncode}: {err.decode()}")
        text, sums, n = open(self.out).read(), [0, 0], 0
        while text.strip():
            answer, at = json.JSONDecoder().raw_decode(text.lstrip())
            text = text.lstrip()[at:]
            sums = [s + answer["answer"].get(metric, 0) for s, metric in zip(sums, METRICS)]
            n += 1
        return sums, n


measured = subprocess.Popen([perfmap, "run", "--adapter", "none", "-o", "live.perfmap", "--", program, script, "wait"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
pid = measured.stdout.readline().decode().split()[1]
askers = [Asker(pid, line, number) for number, line in enumerate(open(answers).readlines()[:QUESTIONS])]
for asker in askers:
    asker.has_begun()
measured.stdin.write(b"\n")
measured.stdin.flush()
measured.stdout.readline()
_, err = measured.communicate(b"\n", timeout=600)
if measured.returncode:
    sys.exit(err.decode())
for asker in askers:
    sums, n = asker.sums()
    if sums != asker.expected:
        sys.exit(f"{asker.question}: {n} intervals have {sums}, the model {asker.expected}")
print(f"{len(askers)} questions asked of the running program, in {n} intervals")

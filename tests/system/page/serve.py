"""The server of `perfmap view`: the same page, for this machine and those who know the address only. serve.py PERFMAP ARCHIVE FOLDER"""
import http.client
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

from browser import Browser
from check import Checker, all_views


def fail(text):
    sys.exit(f"serve.py: {text}")


def ask(port, path, host=None, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest(method, path, skip_host=host is not None)
    if host:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def expect(name, found, wanted):
    if found != wanted:
        fail(f"{name}: {found}, not {wanted}")


def raw(port, data):
    with socket.create_connection(("127.0.0.1", port), 60) as s:
        s.sendall(data)
        return s.makefile("rb").readline()


def refusals(port, token):
    expect("page", ask(port, f"/{token}/")[0], 200)
    status, body, headers = ask(port, f"/{token}/", method="HEAD")
    expect("head", (status, body), (200, b""))
    expect("sniffing", headers["X-Content-Type-Options"], "nosniff")
    expect("localhost", ask(port, f"/{token}/", f"localhost:{port}")[0], 200)
    for path in ("/", "/chunk/0", f"/{token}", f"/{token[:-1]}0x/", f"/{'0' * len(token)}/chunk/0", "//"):
        expect(path, ask(port, path)[0], 403)
    expect("a part", ask(port, f"/{token}/chunk/1/0-1000000000")[0], 200)
    for part in ("5-5", "7-3", f"{1 << 62}-{(1 << 63) - 1}"):
        expect(part, ask(port, f"/{token}/chunk/0/{part}")[0], 400)
    expect("its reason", b"interval is empty" in ask(port, f"/{token}/chunk/0/7-3")[1], True)
    for path in ("chunk/0/", "chunk/0/1", "chunk/0/1-", "chunk/0/-1", "chunk/0/a-b", "chunk/0/1-2/", "chunk/0/0-99999999999999999999", "chunk/999/1-2"):
        expect(path, ask(port, f"/{token}/{path}")[0], 404)
    for path in ("chunk/", "chunk/-1", "chunk/9999", "chunk/0/", "../", "../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "source/0x"):
        expect(path, ask(port, f"/{token}/{path}")[0], 404)
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}"):
        expect(host, ask(port, f"/{token}/", host)[0], 403)
    for data in (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n", b"\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n", b"G" * 20000):
        expect(data[:20], raw(port, data)[:12], b"HTTP/1.1 400")
    # Connections that say nothing keep nobody out.
    idle = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(80)]
    expect("beside idle ones", ask(port, f"/{token}/chunk/1")[0], 200)
    # Nor do they end what somebody is getting: a chunk that is asked for, and read slowly.
    with socket.create_connection(("127.0.0.1", port), 60) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(f"GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        time.sleep(0.2)
        idle += [socket.create_connection(("127.0.0.1", port), 60) for _ in range(80)]
        expect("beside more idle ones", ask(port, f"/{token}/chunk/1")[0], 200)
        stream = slow.makefile("rb")
        expect("a slow one", len(stream.read()) > 150000, True)
    for s in idle:
        s.close()


QUESTIONS = ["{? ?}", "{step Executes}", "{array:u ?} and {step Executes}", "{step Executes}, not {main Executes}", "{nowhere Executes}"]
ENDS = ["", "{", "{st", "{step ", "{step Executes} ", "on thread "]
WRONG = ["{step", "{} and", "step", "{step Executes} on thread nobody", "a\"b{}é"]


def questions(perfmap, archive, port, token):
    """What is typed in the page is answered as the command does, of all and of a part; what is wrong is so in the command's words."""
    def command(*words):
        done = subprocess.run([perfmap, *words, archive], capture_output=True, text=True, env=dict(os.environ, LC_ALL="C.UTF-8"))
        return done.stdout if done.returncode == 0 else done.stderr

    def page(kind, text, rest=""):
        status, body, _ = ask(port, f"/{token}/{kind}/{urllib.parse.quote(text, safe='')}{rest}")
        return status, body.decode()

    for text in QUESTIONS:
        known = page("ask", text)
        if known[0] == 200:
            expect(text, known, (200, command("ask", text)))
            expect(f"CSV of {text}", page("csv", text), (200, command("ask", "--csv", text)))
            expect(f"part of {text}", page("ask", text, "/0-500000000"), (200, command("ask", "--to", "500000000ns", text)))
    for text in ENDS:
        expect(f"ways of {text}", page("ways", text), (200, command("complete", text)))
    for text in WRONG + QUESTIONS[-1:]:
        status, said = page("ask", text)
        told = command("ask", text)
        # Options that the command's hints name are said in the same words.
        if status == 200 and said != told or status != 200 and said.split("\n")[0] not in told:
            fail(f"{text}: {status} {said}, not {told}")
    expect("no text", ask(port, f"/{token}/ask/%00")[0], 404)
    expect("no part", ask(port, f"/{token}/ask/%7B%7D/1")[0], 404)


def mutations(port, token):
    """Paths that are nearly right: an answer or a refusal, and the server goes on."""
    rng = random.Random(7)
    seeds = [f"/{token}/", f"/{token}/chunk/1/0-1000000", f"/{token}/ask/%7Bstep%20Executes%7D", f"/{token}/ways/%7Bst", f"/{token}/csv/%7B%3F%20%3F%7D/0-99999999"]
    for _ in range(400):
        path = list(rng.choice(seeds))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(1, len(path) + 1)
            path[at:at + rng.randint(0, 3)] = rng.choice(["", "%", "/", "%00", "%ff", "-", "{", "9" * 30, "..", "a" * 300, chr(rng.randint(33, 126))])
        data = f"GET {''.join(path)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        if not re.match(rb"HTTP/1\.1 (200|400|403|404) ", raw(port, data)):
            fail(f"{data}: no answer")
    for path in ("ask/%7B%7D", "ways/a", "csv/a"):
        expect(f"{path} without the word", ask(port, f"/{path}")[0], 403)
        expect(f"{path} of another host", ask(port, f"/{token}/{path}", "evil.example")[0], 403)


def is_local(port):
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as lines:
            for line in list(lines)[1:]:
                address, state = line.split()[1], line.split()[3]
                if state == "0A" and int(address.split(":")[1], 16) == port and address != f"0100007F:{port:04X}":
                    return False
    return True


def browser_is_left_alone(perfmap, archive, folder):
    """What opens the page may stay, or be the browser itself: nobody waits for it, or ends it."""
    os.makedirs(f"{folder}/desktop", exist_ok=True)
    with open(f"{folder}/desktop/xdg-open", "w") as script:
        # Its command line is for all to read: what it opens is for this user only, and leads to the address.
        script.write(f"#!/bin/sh\nstat -c %a \"$1\" >{folder}/opened\nsed 's/.*url=//;s/\".*//' \"$1\" >>{folder}/opened\necho \"$1\" >{folder}/named\nsleep 3\necho stayed >>{folder}/opened\n")
    os.chmod(f"{folder}/desktop/xdg-open", 0o755)
    env = dict(os.environ, DISPLAY=":9", XDG_RUNTIME_DIR=folder, PATH=f"{folder}/desktop:{os.environ['PATH']}")
    server = subprocess.Popen([perfmap, "view", archive], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    address = server.stdout.readline().strip()
    port = int(address.split(":")[2].split("/")[0])
    expect("while a browser opens", ask(port, "/" + address.split("/", 3)[3])[0], 200)
    for _ in range(200):
        if os.path.exists(f"{folder}/named"):
            break
        time.sleep(0.1)
    server.send_signal(signal.SIGTERM)
    expect("the end beside a browser", server.wait(60), 0)
    for _ in range(200):
        if os.path.exists(f"{folder}/opened") and open(f"{folder}/opened").read() == f"600\n{address}\nstayed\n":
            way = open(f"{folder}/named").read().strip()
            expect("the way after the end", (os.path.exists(way), address.split("/")[3] in way), (False, False))
            return
        time.sleep(0.1)
    fail("the browser was ended")


def main():
    perfmap, archive, folder = sys.argv[1:4]
    server = subprocess.Popen([perfmap, "view", "--no-browser", archive], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", address).groups()
        port = int(port)
        if not is_local(port):
            fail("listens to other machines")
        refusals(port, token)
        questions(perfmap, archive, port, token)
        mutations(port, token)
        taken = subprocess.run([perfmap, "view", "--no-browser", "--port", str(port), archive], capture_output=True, text=True)
        expect("a port in use", (taken.returncode, taken.stderr), (1, f"perfmap: port {port} of 127.0.0.1 is in use: without '--port' any that is free is taken\n"))
        with Browser(folder) as browser:
            page = browser.open(address)
            checker = Checker(perfmap, archive, page)
            all_views(checker)
            checker.brush(20, 70)
            all_views(checker)
            expect("numbers", checker.problems, [])
            expect("console", page.errors, [])
            page.go(tab="ask", ask="{step Executes}")
            shown = page.evaluate("document.querySelector('.answer pre').textContent")
            expect("an answer", shown, ask(port, f"/{token}/ask/%7Bstep%20Executes%7D")[1].decode())
            page.evaluate("(async () => { const q = document.querySelector('#question'); q.value = '{st'; q.focus(); q.dispatchEvent(new Event('input')); })()")
            page.wait("document.querySelectorAll('#ways li').length")
            expect("ways", page.evaluate("[...document.querySelectorAll('#ways li')].every((li) => li.textContent.startsWith('{st'))"), True)
            expect("requests", [r for r in page.requests if not r.startswith(address)], [])
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    expect("the end", server.returncode, 0)
    browser_is_left_alone(perfmap, archive, folder)
    print(f"{checker.n_views} views, {checker.n_numbers} numbers by the server")


if __name__ == "__main__":
    main()

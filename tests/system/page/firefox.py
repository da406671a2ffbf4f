"""Each view in Firefox without a window, driven by its own protocol (Marionette). firefox.py HTML FOLDER

Pictures are left in FOLDER, for people.
"""
import base64
import json
import shutil
import socket
import subprocess
import sys
import time

from looks import VIEWS

SECONDS = 90


def fail(text):
    sys.exit(f"firefox.py: {text}")


class Firefox:
    def __init__(self, folder):
        self.profile = f"{folder}/firefox"
        shutil.rmtree(self.profile, ignore_errors=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        shutil.os.makedirs(self.profile)
        with open(f"{self.profile}/user.js", "w") as settings:
            settings.write(f'user_pref("marionette.port", {self.port});\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
                           'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("app.update.enabled", false);\n')
        self.log = open(f"{folder}/firefox.log", "wb")
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        self.process = subprocess.Popen([program, "--headless", "--marionette", "--no-remote", "--profile", self.profile], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.socket = self.connect()
        self.rest = b""
        self.next_id = 0
        self.read()
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}})

    def connect(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", self.port), SECONDS)
            except OSError:
                time.sleep(0.2)
        fail("Firefox does not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def read(self):
        """A length, a colon, and JSON."""
        while b":" not in self.rest:
            self.more()
        length, self.rest = self.rest.split(b":", 1)
        while len(self.rest) < int(length):
            self.more()
        message, self.rest = self.rest[:int(length)], self.rest[int(length):]
        return json.loads(message)

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            fail("Firefox ended")
        self.rest += data

    def call(self, name, arguments=None):
        self.next_id += 1
        text = json.dumps([0, self.next_id, name, arguments or {}]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, value = self.read()
        if error:
            fail(f"{name}: {error['message']}")
        return value

    def run(self, script, *values):
        """The value of a function's body, in the page."""
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(values), "sandbox": None})["value"]

    def wait(self, expression):
        end = time.monotonic() + SECONDS
        while not self.run(f"return Boolean({expression})"):
            if time.monotonic() > end:
                fail(f"waited in vain for {expression}")
            time.sleep(0.05)

    def open(self, address, width, height):
        self.call("WebDriver:SetWindowRect", {"width": width, "height": height})
        self.call("WebDriver:Navigate", {"url": address})
        self.wait("document.documentElement.dataset.ready || document.querySelector('.warnings h2')")
        # What goes wrong later is kept; the first drawing was, or the view says so.
        self.run("""window.wrapped = window.wrappedJSObject ?? window; window.problems = [];
            addEventListener('error', (e) => problems.push(e.message)); addEventListener('unhandledrejection', (e) => problems.push(String(e.reason)));""")

    def go(self, **changes):
        before = self.run("return document.documentElement.dataset.ready")
        self.run("window.perfmap.change(JSON.parse(arguments[0]))", json.dumps(changes))
        self.wait(f"document.documentElement.dataset.ready !== {json.dumps(before)}")

    def screenshot(self, path):
        data = self.call("WebDriver:TakeScreenshot", {"full": False})["value"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))


def look(firefox, name):
    for number, changes in enumerate(VIEWS):
        firefox.go(**changes)
        firefox.screenshot(f"{name}-{number}.png")
        said = firefox.run("return document.querySelector('#view h2')?.textContent")
        if said == "The page cannot show this":
            fail(f"{changes}: {firefox.run('return document.querySelector(`#view`).textContent')}")
        if firefox.run("return document.documentElement.scrollWidth > innerWidth"):
            fail(f"{name}: {changes} is wider than the window")
        if firefox.run("return document.querySelector('#view').innerText.trim().length") < 20:
            fail(f"{changes}: nothing is shown")


def main():
    html, folder = sys.argv[1:3]
    with Firefox(folder) as firefox:
        for width in (1280, 500): # narrower windows Firefox does not make
            firefox.open(f"file://{html}", width, 800)
            look(firefox, f"{folder}/firefox-{width}")
            # An interval: its numbers, and what the strip says.
            if firefox.run("return !document.querySelector('#strip').hidden"):
                all_of_it = firefox.run("return document.querySelector('#strip .note').textContent")
                firefox.go(tab="costs", **{"from": firefox.run("return Math.round(window.perfmap.whole.run_ns / 4)")})
                firefox.screenshot(f"{folder}/firefox-{width}-part.png")
                if firefox.run("return document.querySelector('#strip .note').textContent") == all_of_it:
                    fail("no interval was chosen")
            if firefox.run("return window.problems"):
                fail(f"{firefox.run('return window.problems')}")
    print(f"2 looks in Firefox, {len(VIEWS)} views each")


if __name__ == "__main__":
    main()

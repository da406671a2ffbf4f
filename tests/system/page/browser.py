"""Chromium without a window, driven through its own protocol over a pipe: no package is needed, and no port.

    with Browser(folder) as browser:
        page = browser.open("file:///tmp/report.html", width=1280)
        page.evaluate("document.title")
        page.screenshot("report.png")
        page.errors, page.requests      # what the console said is wrong, and all addresses that were asked for
"""
import base64
import json
import os
import shutil
import subprocess
import threading
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, folder):
        down, self.write_end = os.pipe()
        self.read_end, up = os.pipe()
        # Chromium reads descriptor 3 and writes 4.
        command = [find(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}/chromium", "--no-first-run", "--disable-gpu",
                   "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   "--disable-extensions", "--disable-default-apps", "--mute-audio", "--hide-scrollbars", "about:blank"]
        mover = f"exec {down}<&{down} {up}>&{up}; exec \"$@\" 3<&{down} 4>&{up}"
        self.log = open(f"{folder}/chromium.log", "wb")
        self.process = subprocess.Popen(["bash", "-c", mover, "bash", *command], pass_fds=(down, up), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(down)
        os.close(up)
        self.next_id = 0
        self.answers = {}
        self.pages = {}
        self.arrived = threading.Condition()
        self.ended = False
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        self.log.close()

    def read(self):
        rest = b""
        while True:
            try:
                more = os.read(self.read_end, 1 << 20)
            except OSError:
                more = b""
            with self.arrived:
                if not more:
                    self.ended = True
                    self.arrived.notify_all()
                    return
                *messages, rest = (rest + more).split(b"\0")
                for text in messages:
                    self.take(json.loads(text))
                self.arrived.notify_all()

    def take(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].take(message["method"], message["params"])

    def call(self, method, session=None, **params):
        with self.arrived:
            self.next_id += 1
            number = self.next_id
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers or self.ended, SECONDS) or number not in self.answers:
                raise RuntimeError(f"no answer to {method}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, address, width=1280, height=800, dark=False):
        return Page(self, address, width, height, dark)


class Page:
    def __init__(self, browser, address, width, height, dark):
        self.browser = browser
        self.errors = []
        self.requests = []
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height, dark)
        self.call("Page.navigate", url=address)
        self.wait("document.documentElement?.dataset.ready !== undefined || document.querySelector('.warnings h2') !== null")

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def take(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def evaluate(self, expression):
        """The value of an expression, or of the promise that it is."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "error"))
        return answer["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + SECONDS
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain for {expression}: {self.errors}")
            time.sleep(0.02)

    def go(self, **changes):
        """Another view: as a click on a tab, a choice and the like do."""
        before = self.evaluate("document.documentElement.dataset.ready")
        self.evaluate(f"perfmap.change({json.dumps(changes)})")
        self.wait(f"document.documentElement.dataset.ready !== {json.dumps(before)}")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

"""A real browser without a window. A pipe carries the page to open, its width and its colour scheme.

The pipe speaks the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/). Chromium offers it to a
process with file descriptors 3 and 4 open for it. Messages are JSON, each ended by a zero byte. Every wait is bounded.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LIMIT_S = 60
# The pipe's ends become descriptors 3 and 4 of the browser: copied out of the way first, should they be in it.
_LAUNCH = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def found():
    """The path of a browser, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A running browser with one page. A context manager, which ends the browser."""

    def __init__(self, executable, profile):
        self.events = []
        self._count = 0
        self._rest = b""
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        arguments = [executable, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        arguments += ["--no-first-run", "--disable-extensions", "--disable-background-networking"]
        arguments += [f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(reads), str(writes), *arguments],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reads)
        os.close(writes)
        self._session = None

    def __enter__(self):
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        os.close(self._to)  # which the browser takes for the end
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._from)

    def call(self, method, **parameters):
        """Call a method of the protocol; returns what it answers."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        answer = self._await(lambda told: told.get("id") == self._count)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, url, width, height, scheme):
        """Open a page and wait until it has loaded. Return its console output and the failures meanwhile."""
        screen = {"width": width, "height": height, "screenWidth": width, "screenHeight": height}
        self.call("Emulation.setDeviceMetricsOverride", **screen, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        assert "errorText" not in self.call("Page.navigate", url=url)
        if not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._await(lambda told: told.get("method") == "Page.loadEventFired")
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")  # laid out, errors told
        telling = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed")
        return [event for event in self.events if event["method"] in telling]

    def evaluate(self, expression):
        """The value of an expression in the page, or of what it promises."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def requested(self):
        """The URLs that the last opened page has requested."""
        return [
            event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"
        ]

    def _await(self, wanted):
        give_up = time.monotonic() + LIMIT_S
        while True:
            while b"\0" in self._rest:
                text, _, self._rest = self._rest.partition(b"\0")
                told = json.loads(text)
                if "method" in told:
                    self.events.append(told)
                if wanted(told):
                    return told
            ready, _, _ = select.select([self._from], [], [], max(0.0, give_up - time.monotonic()))
            chunk = os.read(self._from, 1 << 20) if ready else b""
            if not chunk:
                raise TimeoutError(f"the browser {'has ended' if ready else f'says nothing for {LIMIT_S} s'}")
            self._rest += chunk

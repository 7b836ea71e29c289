"""A headless Chromium, driven over a pipe with its DevTools protocol: needs no package and opens no port.

It must never know: what a page is about.
"""
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time

# Seconds that no step of a page on this machine should ever need.
PATIENCE = 60
# What Debian and others call it.
NAMES = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One browser with one page. Whatever the page asks for is kept in `requests`, what it complains of in `complaints`."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="taquin-browser-", ignore_cleanup_errors=True)
        # It reads commands at descriptor 3 and writes at 4; ours must not lie there before they are moved.
        to_read, self.to_write = self._pipe()
        self.to_read, to_write = self._pipe()
        command = [program, "--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder.name}", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        moved = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", *command]
        self.process = subprocess.Popen(moved, pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.requests, self.complaints, self.loaded = [], [], False
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Log", "Runtime"):
                self.call(f"{domain}.enable")
            self.call("Network.setCacheDisabled", cacheDisabled=True)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _pipe():
        ends = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends]
        for end in ends:
            os.close(end)
        return high

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        os.close(self.to_write)
        try:
            # The end of its commands is the end of it.
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_read)
        self.folder.cleanup()

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result; events on the way are kept."""
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self, patience=PATIENCE):
        """The next message; none if there is none in time and that is no fault."""
        end = time.monotonic() + patience
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.to_read], [], [], max(0, end - time.monotonic()))
            if not ready:
                if patience < PATIENCE:
                    return None
                raise TimeoutError("the browser says nothing")
            read = os.read(self.to_read, 1 << 16)
            if not read:
                raise RuntimeError("the browser is gone")
            self.buffer += read
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self._keep(message)
        return message

    def _keep(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"]["text"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def open(self, url, width, height, scheme="light"):
        """Opens a page in a window of this size, and waits for all that it asks for."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.requests, self.complaints, self.loaded = [], [], False
        self.call("Page.navigate", url=url)
        end = time.monotonic() + PATIENCE
        while not self.loaded:
            self._next(max(0.1, end - time.monotonic()))
        # What it would ask for afterwards.
        while self._next(0.5):
            pass

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

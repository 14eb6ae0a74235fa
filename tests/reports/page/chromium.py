"""Controls a headless Chromium through its DevTools pipe. It needs no driver, no port and no package but the browser."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def program():
    """Path of the browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def slowness(teller):
    """What limits on times are multiplied by here, as the program `teller` prints it (tests/slowness.hpp); 1 without one."""
    return float(subprocess.run([teller], check=True, capture_output=True, text=True).stdout) if teller else 1


class Browser:
    """One page. `messages` holds errors and warnings of the console, `requests` every address that the page requested."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        inward, outward = os.pipe(), os.pipe()
        arguments = [program(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}",
                     "--no-first-run", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars", "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")  # Chromium refuses its sandbox to root
        script = 'exec 3<&"$IN" 4>&"$OUT" && exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", script, "bash", *arguments], pass_fds=(inward[0], outward[1]),
                                        env={**os.environ, "IN": str(inward[0]), "OUT": str(outward[1]),
                                             "TMPDIR": self.profile},  # it leaves files there
                                        stderr=subprocess.DEVNULL)
        os.close(inward[0])
        os.close(outward[1])
        self.into, self.out = inward[1], outward[0]
        self.buffer, self.count, self.session = b"", 0, None
        self.messages, self.requests, self.loaded = [], [], False
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.into)
        os.close(self.out)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _next(self):
        while b"\0" not in self.buffer:
            part = os.read(self.out, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, given = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.messages.append(" ".join(str(one.get("value", one.get("description"))) for one in given["args"]))
        elif method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.messages.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **given):
        """Of the page, or before there is one of the browser."""
        return self._call(method, given, self.session)

    def _call(self, method, given, session):
        self.count += 1
        message = {"id": self.count, "method": method, "params": given}
        if session:
            message["sessionId"] = session
        os.write(self.into, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def window(self, width, height=900, scheme="light", media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, file, fragment="", window=()):
        """Seconds from the navigation until the last script of the page has run, without those in which the page was ready
        to run and others had the processors. `window`: what window() takes, for this page; the one before is left first,
        for it would draw all its figures anew."""
        self._go("about:blank")
        if window:
            self.window(*window)
        self.messages.clear()
        self.requests.clear()
        before, begin = self._waits(), time.monotonic()
        self._go(f"file://{os.path.abspath(file)}{fragment}")
        seconds = time.monotonic() - begin
        return seconds - max((waited - before.get(process, 0) for process, waited in self._waits().items()), default=0)

    def _waits(self):
        """Of each process that shows pages: seconds that its main thread has waited for a processor, as the kernel counts
        them (Documentation/scheduler/sched-stats.rst); none where it does not."""
        waits = {}
        for process in self._call("SystemInfo.getProcessInfo", {}, None)["processInfo"]:
            with contextlib.suppress(OSError, IndexError, ValueError):
                if process["type"] == "renderer":
                    waits[process["id"]] = int(pathlib.Path(f"/proc/{process['id']}/schedstat").read_text().split()[1]) / 1e9
        return waits

    def _go(self, address):
        self.loaded = False
        self.call("Page.navigate", url=address)
        while not self.loaded:
            self._note(self._next())

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def key(self, key):
        code = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, file, whole=True):
        """The page draws its figures one after another once it is loaded: the picture is taken after the last one."""
        self.js("""(async () => { for (let i = 0; i < 300 && document.querySelector('.plot') &&
          document.documentElement.dataset.drawn !== 'yes'; ++i) await new Promise((then) => setTimeout(then, 50)); })()""")
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **(
            {"clip": {"x": 0, "y": 0, "scale": 1, "width": self.js("innerWidth"),
                      "height": min(self.js("document.documentElement.scrollHeight"), 14000)}} if whole else {}))
        with open(file, "wb") as out:
            out.write(base64.b64decode(picture["data"]))

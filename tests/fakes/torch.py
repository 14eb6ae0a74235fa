"""In the place of PyTorch, for tests of what imports it: notes each import in a file, and computes nothing. TORCH_LOG
names the file; TORCH_FAULT says what happens when a program is loaded, or that there is no such module."""

import os
import signal
import subprocess
import sys
import time
import types

FAULT = os.environ.get("TORCH_FAULT", "")
if FAULT == "absent":
    raise ImportError("No module named 'torch'")
with open(os.environ["TORCH_LOG"], "a") as log:
    print(os.getpid(), file=log)

__version__ = "0.0.fake"
cuda = types.SimpleNamespace(is_available=lambda: False)
OutOfMemoryError = MemoryError


def set_num_threads(threads):
    fault = os.environ.get("TORCH_FAULT", "")
    if fault == "starts_a_session":
        subprocess.Popen(["setsid", "sleep", "600"], start_new_session=True, env={})
        sys.exit("gone, but for what it started")
    if fault == "hangs":
        subprocess.Popen(["setsid", "sleep", "600"], start_new_session=True, env={})
        time.sleep(600)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise ValueError(f"cannot compute with {threads} threads")

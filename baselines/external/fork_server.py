"""Imports PyTorch once for a whole run: a server, whose forks run the scripts of this folder (docs/external.md).

    python3 fork_server.py N    takes clients from file descriptor N, one of a pair of datagram sockets, and ends when
                                its standard input ends

The other socket of the pair is inherited by programs that may ask: there is no name that another process, in a
container perhaps, could connect to. A script calls hand_over() before it imports PyTorch. That passes the script's streams, arguments, environment and
folder to the server, waits while a fork of the server runs the script, and ends as the fork ended. For hilbench the
program is the process that it started, as if there were no server. Without a server, or if it does not answer,
hand_over() returns, and the script goes on in its own process.

Each client gets two forks: one that runs the script, and its guardian, which waits without using the processor. When
the script, the client or hilbench ends, the guardian kills all that the script has started, in whatever session.

Until it forks, the server imports PyTorch and nothing else: it starts no thread and does not touch a GPU.
"""

import ctypes
import json
import os
import resource
import runpy
import select
import signal
import socket
import struct
import sys

SOCKET = "HILBENCH_FORK_SERVER"  # the variable with the descriptor of the inherited socket
PATIENCE_S = 30  # the longest wait for a fork; PyTorch may still be imported
CLIENT = b"c"  # to the server, with a socket to speak over
READY, GO = b"r", b"g"  # from the guardian, then from the client, with its streams and its request
STATUS = struct.Struct("i")  # as os.waitstatus_to_exitcode() gives it
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


# The client.

def hand_over():
    """Lets a fork of the server run this script, and then ends this process; returns if there is no server."""
    number = os.environ.pop(SOCKET, "")
    server = greeted(int(number)) if number.isdecimal() else None
    if server is None:
        return
    with server:
        if not begins(server):
            return
        status = server.recv(STATUS.size)
    if len(status) < STATUS.size:
        sys.exit("the process that ran this script for it was killed")
    (code,) = STATUS.unpack(status)
    if code >= 0:
        sys.exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the fork has written its own
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


def greeted(number):
    """A socket whose other end is on its way to the server; None if there is no server."""
    try:
        with socket.socket(fileno=number) as shared:
            mine, theirs = socket.socketpair()
            with theirs:
                shared.settimeout(PATIENCE_S)
                socket.send_fds(shared, [CLIENT], [theirs.fileno()])
            return mine
    except OSError:
        return None


def begins(server):
    """Whether a fork begins to run this script. If not, none will."""
    request = {"arguments": sys.argv, "environment": dict(os.environ), "folder": os.getcwd(), "path": sys.path,
               "cores": sorted(os.sched_getaffinity(0))}
    server.settimeout(PATIENCE_S)
    try:
        if server.recv(len(READY)) != READY:
            return False
        with os.fdopen(os.memfd_create("request"), "w") as file:
            json.dump(request, file)
            file.flush()
            socket.send_fds(server, [GO], [0, 1, 2, file.fileno()])
    except OSError:
        return False
    server.settimeout(None)
    return True


# The server.

def user_of(connection):
    """The user of the process at the other end."""
    credentials = struct.Struct("3i")
    return credentials.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size))[1]


def serve():
    """Returns the request of a client in each fork that is to run a script; ends the server itself."""
    os.setsid()  # Ctrl-C reaches hilbench alone, which then ends the server
    lifeline = os.dup(0)
    shared = socket.socket(fileno=int(sys.argv[1]))  # clients wait there until PyTorch is imported
    shared.setblocking(False)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    import torch  # noqa: F401  if this fails, clients find nobody, and say themselves what is missing
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # guardians leave no zombies
    while True:
        if lifeline in select.select([shared, lifeline], [], [])[0]:
            os._exit(0)
        _, passed, _, _ = socket.recv_fds(shared, len(CLIENT), 1)
        connection = socket.socket(fileno=passed[0])
        if os.fork() == 0:
            shared.close()
            request = guard(connection, lifeline)
            os.close(lifeline)
            return request
        connection.close()


def guard(connection, lifeline):
    """Starts the fork that runs the script and returns the client's request there; the guardian ends here."""
    guardian = os.getpid()
    try:
        request = accepted_request(connection)
        if request is None:
            return None
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        script = os.fork()
        if script == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guardian:
                os._exit(1)
            for end in (woken, wake):
                os.close(end)
            connection.close()
            return request
        # The guardian keeps standard error: whoever reads it to its end knows that nothing is left.
        for stream in request["streams"][:2]:
            os.close(stream)
        watch(script, connection, lifeline, woken)
    finally:
        if os.getpid() == guardian:
            os._exit(0)


def accepted_request(connection):
    """What the client asks for; None if it has not waited, or is another user's."""
    if user_of(connection) != os.geteuid():
        return None
    connection.sendall(READY)
    said, passed, _, _ = socket.recv_fds(connection, len(GO), 4)
    if said != GO:
        return None
    *streams, file = passed
    with os.fdopen(file) as text:
        text.seek(0)
        return {**json.load(text), "streams": streams}


def watch(script, connection, lifeline, woken):
    """Until the script, the client or hilbench has ended; then nothing that the script started is left."""
    code = None
    while code is None:
        ended = select.select([connection, lifeline, woken], [], [])[0]
        code = reap(script)
        if connection in ended or lifeline in ended:
            break
        os.read(woken, 4096)
    end_children()
    if code is not None:
        connection.sendall(STATUS.pack(code))


def reap(script):
    """Waits for children that have ended; gives the exit code of the script if it is one of them."""
    code = None
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if child == script:
            code = os.waitstatus_to_exitcode(status)
        if child == 0:
            return code


def end_children():
    """Kills the children, and then those that this process adopts from them, until there are none."""
    try:
        while True:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # raises ChildProcessError if there are none
            for process in filter(str.isdigit, os.listdir("/proc")):
                if parent_of(process) == os.getpid():
                    os.kill(int(process), signal.SIGKILL)
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def parent_of(process):
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])  # the name in brackets may hold anything
    except OSError:
        return 0


def prctl(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# The fork that runs a script.

def become(request):
    """Makes this process what the client was when it asked."""
    for stream, given in enumerate(request["streams"]):
        os.dup2(given, stream)
        os.close(given)
    os.chdir(request["folder"])
    os.sched_setaffinity(0, request["cores"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:], sys.path[:] = request["arguments"], request["path"]


if __name__ == "__main__":
    become(serve())
    runpy.run_path(sys.argv[0], run_name="__main__")

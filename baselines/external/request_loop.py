"""The loop by which a program answers the requests of hilbench (docs/external.md)."""

import json
import os
import sys

PROTOCOL = 2


class Unsupported(Exception):
    """This program cannot compute the case: a skip, not a failure."""


def agree(protocol):
    """Refuses to go on if hilbench speaks another protocol."""
    if protocol != PROTOCOL:
        raise Unsupported(f"speaks protocol {PROTOCOL}, not {protocol}")


def take_answers():
    """The stream of answers. Nothing that libraries print becomes an answer: it goes to the standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def serve(program, told=str, answers=None):
    """Answers each request by the method of `program` that it names; a method that returns None has answered itself.
    `told`: what is said of an error. `answers`: of take_answers(), if the program has called it."""
    answers = answers or take_answers()
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("do")
        try:
            answer = getattr(program, what)(**request)
        except Unsupported as reason:
            answer = {"unsupported": str(reason)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {told(error)}"}
        if answer is not None:
            # A name of the file system may hold bytes that are no text.
            line = json.dumps(answer, ensure_ascii=False).encode(errors="replace").decode()
            print(json.dumps(json.loads(line)), file=answers, flush=True)
    os._exit(0)  # the system frees all at once; frameworks and CUDA need a second to do it piece by piece

"""Blurs on command: requests come as lines of JSON on standard input, answers go to standard output."""

import json
import sys

import numpy as np

import peers


def answer(request, opened):
    peer = request["peer"]
    match request["do"]:
        case "open":
            picture = np.load(request["path"])
            opened[peer] = peers.SERVED[peer](picture, peers.Case(**request["case"]))
            return opened[peer] is not None
        case "run":
            return peers.seconds(opened[peer][0])
        case "result":
            np.save(request["path"], opened[peer][1]())
        case "close":
            del opened[peer]
    return True


def main():
    opened = {}
    for line in sys.stdin:
        print(json.dumps({"answer": answer(json.loads(line), opened)}), flush=True)


if __name__ == "__main__":
    main()

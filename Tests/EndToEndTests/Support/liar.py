#!/usr/bin/python3
"""A worker that was taken over, as its coordinator sees it: all is a real worker's, but for one thing in its receipts.

   LIAR_WORKER   the real worker program
   LIAR_LIE      what it lies about, a name of LIES; `nothing` for a worker that only passes messages on
   LIAR_FROM     of the lie `digest`: a digest in the place of which LIAR_TO is told, everywhere
   LIAR_PATH     the file or folder that it names, where it lies about a path
   LIAR_TOLD     a file that appears when a lie was told
"""
import json, os, struct, subprocess, sys, threading

MOST = 2**63 - 1
PATH = os.environ.get("LIAR_PATH", "/nowhere")


def change(receipt, **values):
    receipt.update(values)


def change_rows(band):
    return dict(band, rows=[0, 1])


def misnumber(message):
    """A report of an order that was never given."""
    message["finished"]["_0"]["number"] += 1000


def damage(message):
    """A failure that no task of its kind can have."""
    order = message.pop("finished")["_0"]
    message["failed"] = {"_0": order, "_1": {"kind": {"damagedTile": {"index": 0}}, "message": "no"}}


def blame(message):
    order = message.pop("finished")["_0"]
    message["failed"] = {"_0": order, "_1": {"kind": {"plugin": {"_0": "gone"}}, "message": "no"}}


# What no terminal, log or reader may see.
WORDS = "no\r\nforged: 40 published\x1b[2J\x9b31m\u202egpj.exe\u2028forged\x85forged\r\nopenjd_env: A=b\u3164\ufeff"


def speak(message):
    order = message.pop("finished")["_0"]
    message["failed"] = {"_0": order, "_1": {"kind": {"data": {}}, "message": WORDS}}


# What becomes of a whole message.
MESSAGES = {"order-number": misnumber, "failure-damage": damage, "failure-plugin": blame, "failure-words": speak}


def size():
    return os.lstat(PATH).st_size if os.path.isfile(PATH) else sum(
        os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(PATH) for name in names)


# What a receipt has, by which it is known, and what becomes of it.
LIES = {
    "output-path": ("bands", lambda it: change(it, path=PATH, bytes=size())),
    "output-bytes": ("bands", lambda it: change(it, bytes=MOST)),
    "output-size": ("bands", lambda it: change(it["image"], width=MOST, height=MOST)),
    "output-frames": ("bands", lambda it: change(it["image"], frames=MOST)),
    "output-format": ("bands", lambda it: change(it["image"], fileFormat="../../x")),
    "output-bands": ("bands", lambda it: change(it["bands"][0], rows=[0, MOST])),
    "tile-path": ("tile", lambda it: change(it, path=PATH)),
    "tile-rect": ("tile", lambda it: change(it["rect"], x=MOST, width=MOST)),
    "canvas-path": ("metadataPath", lambda it: change(it["canvas"], path=PATH)),
    "canvas-rect": ("metadataPath", lambda it: change(it["canvas"]["rect"], width=MOST, height=MOST)),
    "metadata-path": ("metadataPath", lambda it: change(it, metadataPath=PATH)),
    "probe-size": ("tileSources", lambda it: change(it["source"], width=MOST, height=MOST)),
    "probe-pages": ("tileSources", lambda it: change(it, pages=MOST)),
    "probe-outputs": ("tileSources", lambda it: change(it, outputs=[])),
    "probe-extent": ("tileSources", lambda it: change(it["outputs"][0]["extent"], x=MOST, width=MOST)),
    "probe-grid": ("tileSources", lambda it: change(it["grid"], tileWidth=0, tileHeight=0)),
    "probe-tiles": ("tileSources", lambda it: change(it["grid"]["extent"], width=MOST, height=MOST)),
    "probe-sources": ("tileSources", lambda it: change(it, tileSources=[])),
    "probe-halo": ("tileSources", lambda it: change(it["halo"], left=MOST)),
    "probe-cost": ("tileSources", lambda it: change(it["cost"], chain=1e308)),
    "probe-amount": ("tileSources", lambda it: change(it, readAmplification=1e308)),
    "probe-bytes": ("tileSources", lambda it: change(it["passage"], bytes=MOST)),
    "probe-costs": ("tileSources", lambda it: change(it["cost"], encode=5e8)),
    "probe-amounts": ("tileSources", lambda it: (change(it, readAmplification=1e12), change(it["cost"], chain=1e12))),
    "probe-area": ("tileSources", lambda it: change(it["source"], width=1 << 27, height=1 << 27)),
    "output-small": ("bands", lambda it: (
        change(it["image"], width=1, height=1), change(it, bands=[change_rows(it["bands"][0])]))),
    "compared-size": ("stamp", lambda it: change(it["stamp"], size=MOST)),
}


def checksum(body):
    value = 0xCBF29CE484222325
    for byte in body:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def receipts(value, mark):
    if isinstance(value, dict):
        if {"rect", "digest", "path"} == value.keys() if mark == "tile" else mark in value:
            yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from receipts(part, mark)


worker = subprocess.Popen([os.environ["LIAR_WORKER"], *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def forward():
    while data := os.read(0, 65536):
        worker.stdin.write(data)
        worker.stdin.flush()
    worker.stdin.close()


threading.Thread(target=forward, daemon=True).start()
mark, lie = LIES.get(os.environ["LIAR_LIE"], (None, None))
while head := worker.stdout.read(12):
    length, _ = struct.unpack("<IQ", head)
    body = worker.stdout.read(length)
    if os.environ["LIAR_LIE"] == "digest" and os.environ["LIAR_FROM"].encode() in body:
        body = body.replace(os.environ["LIAR_FROM"].encode(), os.environ["LIAR_TO"].encode())
        open(os.environ["LIAR_TOLD"], "w").close()
    if os.environ["LIAR_LIE"] in MESSAGES and b'"finished"' in body:
        message = json.loads(body)
        MESSAGES[os.environ["LIAR_LIE"]](message)
        open(os.environ["LIAR_TOLD"], "w").close()
        body = json.dumps(message).encode()
    if os.environ["LIAR_LIE"] == "failure-words" and b'"ready"' in body and b'"pluginProblems"' in body:
        message = json.loads(body)
        message["ready"]["_0"]["catalog"]["pluginProblems"] = [WORDS]
        body = json.dumps(message).encode()
    if lie and b'"finished"' in body:
        message = json.loads(body)
        for receipt in list(receipts(message, mark)):
            lie(receipt)
            open(os.environ["LIAR_TOLD"], "w").close()
        body = json.dumps(message).encode()
    os.write(1, struct.pack("<IQ", len(body), checksum(body)) + body)
sys.exit(worker.wait())

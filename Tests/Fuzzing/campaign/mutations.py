"""Mutations of picture files: of bytes, of blocks, of numbers in texts, and of the fields that give a file its structure.

A mutant depends on the campaign's seed and on its own number alone, so that each one can be made again.
"""

import random
import re
import struct
import zlib

BYTES = (0x00, 0x01, 0x02, 0x0F, 0x10, 0x1F, 0x20, 0x3F, 0x40, 0x7F, 0x80, 0x81, 0xFE, 0xFF)
NUMBERS = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 257, 512, 1023, 1024, 4095, 4096, 16383, 16384)
NUMBERS += (32767, 32768, 65534, 65535, 65536, 100000, 0x7FFFFF, 0xFFFFFF, 0x1000000, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF)
NUMBERS += (0x80000000, 0xFFFFFFF0, 0xFFFFFFFE, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
TEXTS = (b"0", b"1", b"-1", b"2", b"16", b"255", b"256", b"65535", b"65536", b"99999", b"1000000", b"2147483647", b"2147483648")
TEXTS += (b"4294967296", b"-2147483649", b"99999999999999999999", b"1e9", b"1e-9", b"1e400", b"nan", b"0.5", b"100%", b"")

# Boxes of ISO files that contain boxes, with the bytes before the first one.
CONTAINERS = {b"meta": 4, b"iprp": 0, b"ipco": 0, b"jp2h": 0, b"moov": 0, b"trak": 0, b"dinf": 0, b"iinf": 6, b"iref": 4}


def fields(data):
    """(offset, width, is little-endian) of the fields with lengths, offsets, counts and sides, as far as the format is known."""
    found = []
    try:
        if data.startswith(b"\x89PNG"):
            png_fields(data, found)
        elif data.startswith(b"\xff\xd8"):
            jpeg_fields(data, found)
        elif data[:2] in (b"II", b"MM"):
            tiff_fields(data, 0, found)
        elif data[:4] == b"RIFF":
            webp_fields(data, found)
        elif data[:4] == b"GIF8":
            gif_fields(data, found)
        elif data[4:8] in (b"ftyp", b"jP  ", b"JXL "):
            box_fields(data, 0, len(data), found)
        elif data.startswith(b"\x76\x2f\x31\x01"):
            exr_fields(data, found)
    except (struct.error, IndexError, ValueError):
        pass  # The file was cut or changed before. The fields up to there count.
    return [field for field in found if 0 <= field[0] and field[0] + field[1] <= len(data)]


def png_fields(data, found):
    place = 8
    while place + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        found.append((place, 4, False))
        if kind == b"IHDR":
            found += [(place + 8, 4, False), (place + 12, 4, False)] + [(place + offset, 1, False) for offset in range(16, 21)]
        place += 12 + length


def jpeg_fields(data, found):
    place = 2
    while place + 4 <= len(data) and data[place] == 0xFF:
        kind, length = data[place + 1], struct.unpack_from(">H", data, place + 2)[0]
        found.append((place + 2, 2, False))
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            found += [(place + 4, 1, False), (place + 5, 2, False), (place + 7, 2, False), (place + 9, 1, False)]
            found += [(place + offset, 1, False) for offset in range(10, 2 + length)]
        elif kind == 0xC4:
            found += [(place + offset, 1, False) for offset in range(4, 21)]
        elif kind == 0xDD:
            found.append((place + 4, 2, False))
        elif kind == 0xDA:
            found += [(place + offset, 1, False) for offset in range(4, 2 + length)]
            next_segment = re.compile(rb"\xff[\xc0-\xcf\xd9-\xfe]").search(data, place + 2 + length)
            if not next_segment:
                return
            place = next_segment.start()
            continue
        elif kind == 0xE1 and data[place + 4 : place + 8] == b"Exif":
            tiff_fields(data, place + 10, found)
        place += 2 + length


def tiff_fields(data, start, found):
    little = data[start : start + 2] == b"II"
    order = "<" if little else ">"
    big = struct.unpack_from(order + "H", data, start + 2)[0] == 43
    offset_size, count_form, entry_size = (8, "Q", 20) if big else (4, "H", 12)
    found.append((start + (8 if big else 4), offset_size, little))
    directories = [struct.unpack_from(order + ("Q" if big else "I"), data, start + (8 if big else 4))[0]]
    for _ in range(16):
        if not directories:
            return
        place = start + directories.pop()
        if place == start or place >= len(data):
            continue
        count = struct.unpack_from(order + count_form, data, place)[0]
        count_size = struct.calcsize(order + count_form)
        found.append((place, count_size, little))
        place += count_size
        for _ in range(min(count, 64)):
            tag = struct.unpack_from(order + "H", data, place)[0]
            value = place + (12 if big else 8)
            found += [(place, 2, little), (place + 2, 2, little), (place + 4, 8 if big else 4, little), (value, offset_size, little)]
            if tag in (0x8769, 0x8825, 0x014A):
                directories.append(struct.unpack_from(order + ("Q" if big else "I"), data, value)[0])
            place += entry_size
        found.append((place, offset_size, little))
        directories.append(struct.unpack_from(order + ("Q" if big else "I"), data, place)[0])


def webp_fields(data, found):
    found.append((4, 4, True))
    place = 12
    while place + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, place)
        found.append((place + 4, 4, True))
        if kind in (b"VP8X", b"ANMF", b"ANIM"):
            found += [(place + 8 + offset, 1, True) for offset in range(min(length, 16))]
        elif kind in (b"VP8 ", b"VP8L"):
            found += [(place + 8 + offset, 1, True) for offset in range(10)]
        # An ANMF chunk has chunks behind its 16 bytes.
        place += 24 if kind == b"ANMF" else 8 + length + length % 2


def gif_fields(data, found):
    found += [(6, 2, True), (8, 2, True), (10, 1, True), (11, 1, True)]
    place = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    while place < len(data) and data[place] in (0x21, 0x2C):
        if data[place] == 0x21:
            found.append((place + 1, 1, True))
            place += 2
        else:
            found += [(place + offset, 2, True) for offset in (1, 3, 5, 7)] + [(place + 9, 1, True)]
            place += 10 + (3 << (data[place + 9] & 7) + 1 if data[place + 9] & 0x80 else 0)
            found.append((place, 1, True))
            place += 1
        while data[place]:
            found.append((place, 1, True))
            place += 1 + data[place]
        place += 1


def box_fields(data, start, end, found, depth=0):
    place = start
    while place + 8 <= end and depth < 8:
        length, kind = struct.unpack_from(">I4s", data, place)
        found.append((place, 4, False))
        stop = min(end, place + length) if length >= 8 else end
        if kind in CONTAINERS:
            box_fields(data, place + 8 + CONTAINERS[kind], stop, found, depth + 1)
        elif kind != b"mdat":
            found += [(offset, 1, False) for offset in range(place + 8, min(stop, place + 72))]
            found += [(offset, 4, False) for offset in range(place + 8, min(stop, place + 72) - 3, 4)]
        if kind == b"jp2c":
            # Markers of the code stream: its size, its tiles, the steps of its resolutions.
            found += [(offset, 2, False) for offset in range(place + 8, min(stop, place + 120), 2)]
        if length < 8:
            return
        place += length


def exr_fields(data, found):
    found.append((4, 4, True))
    place = 8
    while data[place]:
        name_end = data.index(b"\0", place)
        kind_end = data.index(b"\0", name_end + 1)
        length = struct.unpack_from("<I", data, kind_end + 1)[0]
        found.append((kind_end + 1, 4, True))
        found += [(offset, 4, True) for offset in range(kind_end + 5, kind_end + 5 + min(length, 32), 4)]
        place = kind_end + 5 + length
    found += [(offset, 8, True) for offset in range(place + 1, min(place + 129, len(data) - 7), 8)]


class Mutator:
    """Makes mutants of the seeds of each format."""

    def __init__(self, seeds, seed):
        self.seeds = seeds  # format: [(file name, bytes)]
        self.formats = sorted(seeds)
        self.seed = seed

    def make(self, number):
        """(format, name of a file, bytes) of a mutant."""
        dice = random.Random(f"{self.seed}:{number}")
        kind = self.formats[number % len(self.formats)]
        name, data = dice.choice(self.seeds[kind])
        original, data = data, bytearray(data)
        is_text = kind == "svg" or (kind == "pdf" and dice.random() < 0.5) or name == "ppm.text.ppm"
        unpacked = kind == "png" and dice.random() < 0.15 and recompressed(data, dice)
        for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4, 6, 10))):
            steps = [flip_bit, set_byte, set_number, copy_block, remove_block, fill_block]
            if dice.random() < 0.03:
                steps = [cut]
            elif dice.random() < 0.08:
                splice(data, dice, dice.choice(self.seeds[kind])[1])
                continue
            elif is_text and dice.random() < 0.7:
                steps = [change_number, change_number, move_element]
            elif dice.random() < 0.5:
                steps = [change_field]
            dice.choice(steps)(data, dice)
        if bytes(data) == bytes(original):
            data.append(dice.randrange(256))
        if kind == "png" and not unpacked and dice.random() < 0.8:
            data = with_checksums(data)
        _, variant, extension = name.split(".")
        return kind, f"{kind}-{number:07d}-{variant}.{extension}", bytes(data)


def span(data, dice, longest=64):
    length = min(len(data), dice.choice((1, 2, 4, 8, 16, 32, longest)))
    return dice.randrange(len(data) - length + 1), length


def flip_bit(data, dice):
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def set_byte(data, dice):
    if data:
        data[dice.randrange(len(data))] = dice.choice(BYTES) if dice.random() < 0.7 else dice.randrange(256)


def put(data, place, width, little, value):
    data[place : place + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little" if little else "big")


def set_number(data, dice):
    width = dice.choice((2, 4, 4, 8))
    if len(data) >= width:
        put(data, dice.randrange(len(data) - width + 1), width, dice.random() < 0.5, dice.choice(NUMBERS))


def copy_block(data, dice):
    if data:
        start, length = span(data, dice, 400)
        place = dice.randrange(len(data) + 1)
        block = bytes(data[start : start + length]) * dice.choice((1, 1, 1, 2, 20))
        data[place : place + (len(block) if dice.random() < 0.5 else 0)] = block


def remove_block(data, dice):
    if data:
        start, length = span(data, dice, 400)
        del data[start : start + length]


def fill_block(data, dice):
    if data:
        start, length = span(data, dice)
        data[start : start + length] = bytes([dice.choice(BYTES)]) * length


def cut(data, dice):
    if data:
        del data[dice.randrange(len(data)) :]


def splice(data, dice, other):
    if data and other:
        place = dice.randrange(len(data))
        # At the same relative place, so that parts of the same kind meet.
        data[place:] = other[place * len(other) // len(data) :]


def change_field(data, dice):
    """Changes a field that gives the file its structure, or a block if there is none."""
    places = fields(bytes(data))
    if not places:
        return set_number(data, dice)
    place, width, little = dice.choice(places)
    old = int.from_bytes(data[place : place + width], "little" if little else "big")
    near = (old + 1, old - 1, old * 2, old // 2, old + 16, old ^ 1 << dice.randrange(8 * width), len(data), len(data) - place)
    put(data, place, width, little, dice.choice(near) if dice.random() < 0.5 else dice.choice(NUMBERS))


def change_number(data, dice):
    """Replaces a number that is written in digits."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(data[:4096])))
    if not found:
        return set_byte(data, dice)
    match = dice.choice(found)
    data[match.start() : match.end()] = dice.choice(TEXTS)


def move_element(data, dice):
    """Copies an element, or an object of a PDF, to another one's place."""
    found = list(re.finditer(rb"<[^<>]*>|\d+ 0 R|/\w+", bytes(data)))
    if len(found) < 2:
        return flip_bit(data, dice)
    source, target = dice.choice(found), dice.choice(found)
    data[target.start() : target.end()] = source.group() * dice.choice((1, 1, 2, 50))


def png_chunks(data):
    place = 8
    while place + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        if place + 12 + length > len(data):
            return
        yield place, kind, length
        place += 12 + length


def with_checksums(data):
    """The same file, with the right checksum of each chunk, so that decoders look at the changed bytes."""
    for place, _, length in png_chunks(data):
        struct.pack_into(">I", data, place + 8 + length, zlib.crc32(data[place + 4 : place + 8 + length]))
    return data


def recompressed(data, dice):
    """Changes rows below the compression of a PNG. Returns whether it has done so."""
    body, kept = b"", bytearray(data[:8])
    chunks = list(png_chunks(data))
    for place, kind, length in chunks:
        body += bytes(data[place + 8 : place + 8 + length]) if kind == b"IDAT" else b""
    rows = bytearray(zlib.decompress(body))
    for _ in range(dice.randrange(1, 5)):
        dice.choice((flip_bit, set_byte, copy_block, remove_block, fill_block))(rows, dice)
    packed = zlib.compress(bytes(rows))
    is_written = False
    for place, kind, length in chunks:
        if kind != b"IDAT":
            kept += data[place : place + 12 + length]
        elif not is_written:
            is_written = True
            chunk = b"IDAT" + packed
            kept += struct.pack(">I", len(packed)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    data[:] = kept
    return True

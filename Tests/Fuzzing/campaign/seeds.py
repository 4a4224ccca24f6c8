"""Seeds of the campaign: small valid pictures of every format that Penumbra reads, with several variants of each format.

libvips writes most of them, through its C library. Its command line program is not needed. OpenEXR, PDF and SVG files are
written here, because libvips only reads these formats.
"""

import ctypes
import math
import struct
import zlib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]

# VipsBandFormat and VipsInterpretation.
UCHAR, USHORT, FLOAT = 0, 2, 6
GREY, CMYK, SRGB, RGB16, GREY16 = 1, 15, 22, 25, 26


class Vips:
    """The few functions of libvips that write a picture."""

    def __init__(self):
        library = ctypes.CDLL("libvips.so.42")
        library.vips_init.argtypes = [ctypes.c_char_p]
        library.vips_error_buffer.restype = ctypes.c_char_p
        library.vips_image_new_from_memory_copy.restype = ctypes.c_void_p
        library.vips_image_new_from_memory_copy.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
        ]
        library.vips_image_write_to_file.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        library.vips_image_set_int.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        library.vips_image_set_blob_copy.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        library.vips_copy.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_void_p,
        ]
        if library.vips_init(b"mutants"):
            raise OSError("libvips does not start")
        self.library = library

    def write(self, path, options, pixels, width, height, bands, sample, interpretation, page_height, blobs):
        """Writes a picture. Returns the error of libvips, or None."""
        raw = self.library.vips_image_new_from_memory_copy(pixels, len(pixels), width, height, bands, sample)
        image = ctypes.c_void_p()
        if not raw or self.library.vips_copy(raw, ctypes.byref(image), b"interpretation", interpretation, None):
            return self.error()
        if page_height:
            self.library.vips_image_set_int(image, b"page-height", page_height)
        for name, value in blobs.items():
            self.library.vips_image_set_blob_copy(image, name.encode(), value, len(value))
        if self.library.vips_image_write_to_file(image, f"{path}{options}".encode(), None):
            return self.error()
        return None

    def error(self):
        text = self.library.vips_error_buffer().decode(errors="replace").strip()
        self.library.vips_error_clear()
        return text or "unknown error"


def samples(width, height, bands, sample):
    """A picture with gradients, an edge and some texture, as raw interleaved samples."""
    values = []
    for y in range(height):
        for x in range(width):
            wave = 0.5 + 0.5 * math.sin(x * 0.37) * math.cos(y * 0.23)
            inside = 1.0 if (x - width / 2) ** 2 + (y - height / 2) ** 2 < (min(width, height) / 3) ** 2 else 0.2
            all_bands = (x / width, wave, y / height, inside)
            values += all_bands[:bands] if bands != 2 else (wave, inside)
    if sample == UCHAR:
        return bytes(int(value * 255) for value in values)
    if sample == USHORT:
        return struct.pack(f"={len(values)}H", *(int(value * 65535) for value in values))
    return struct.pack(f"={len(values)}f", *values)


def exif(thumbnail):
    """A block of EXIF data with a turned picture, a place, a date, a camera, and a preview."""
    texts = {0x010E: b"A description\0", 0x010F: b"Maker\0", 0x0110: b"Camera 1\0", 0x0132: b"2026:01:02 03:04:05\0", 0x8298: b"(c) somebody\0"}
    main = [(tag, 2, len(text), text) for tag, text in texts.items()]
    main.append((0x0112, 3, 1, struct.pack("<HH", 6, 0)))
    details = [
        (0x829A, 5, 1, struct.pack("<II", 1, 125)),
        (0x9003, 2, 20, b"2026:01:02 03:04:05\0"),
        (0x927C, 7, 40, b"MAKERNOTE" + bytes(31)),
        (0xA431, 2, 9, b"SERIAL01\0"),
    ]
    place = [
        (0x0001, 2, 2, b"N\0\0\0"),
        (0x0002, 5, 3, struct.pack("<6I", 50, 1, 30, 1, 10, 1)),
        (0x0003, 2, 2, b"E\0\0\0"),
        (0x0004, 5, 3, struct.pack("<6I", 7, 1, 15, 1, 20, 1)),
    ]

    def directory(entries, start, following=0):
        entries = sorted(entries)
        data_start = start + 2 + 12 * len(entries) + 4
        table, data = struct.pack("<H", len(entries)), b""
        for tag, kind, count, value in entries:
            if len(value) <= 4:
                table += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
            else:
                table += struct.pack("<HHII", tag, kind, count, data_start + len(data))
                data += value + b"\0" * (len(value) % 2)
        return table + struct.pack("<I", following) + data

    def sized(pointers, following):
        return directory(main + [(0x8769, 4, 1, struct.pack("<I", pointers[0])), (0x8825, 4, 1, struct.pack("<I", pointers[1]))], 8, following)

    first = 8
    details_start = first + len(sized((0, 0), 0))
    place_start = details_start + len(directory(details, details_start))
    preview_start = place_start + len(directory(place, place_start))
    preview = [(0x0103, 3, 1, struct.pack("<HH", 6, 0)), (0x0201, 4, 1, b""), (0x0202, 4, 1, struct.pack("<I", len(thumbnail)))]
    thumbnail_start = preview_start + 2 + 12 * len(preview) + 4
    preview[1] = (0x0201, 4, 1, struct.pack("<I", thumbnail_start))
    return (
        b"Exif\0\0II*\0"
        + struct.pack("<I", first)
        + sized((details_start, place_start), preview_start)
        + directory(details, details_start)
        + directory(place, place_start)
        + directory(preview, preview_start)
        + thumbnail
    )


XMP = (
    b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="50,30N">'
    b"<dc:creator><rdf:Seq><rdf:li>Somebody</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>"
    b'<?xpacket end="w"?>'
)
IPTC = b"\x1c\x02\x00\x00\x02\x00\x04\x1c\x02\x50\x00\x08Somebody\x1c\x02\x74\x00\x0c(c) somebody\0\0\0"


def open_exr(width, height, half, compressed):
    """An OpenEXR file of scan lines with red, green, blue and alpha."""
    kind = 1 if half else 2

    def attribute(name, type_name, value):
        return name + b"\0" + type_name + b"\0" + struct.pack("<I", len(value)) + value

    window = struct.pack("<4i", 0, 0, width - 1, height - 1)
    channels = b"".join(name + b"\0" + struct.pack("<iB3xii", kind, 0, 1, 1) for name in (b"A", b"B", b"G", b"R")) + b"\0"
    header = struct.pack("<II", 20000630, 2)
    header += attribute(b"channels", b"chlist", channels)
    header += attribute(b"compression", b"compression", bytes([2 if compressed else 0]))
    header += attribute(b"dataWindow", b"box2i", window) + attribute(b"displayWindow", b"box2i", window)
    header += attribute(b"lineOrder", b"lineOrder", b"\0") + attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1))
    header += attribute(b"screenWindowCenter", b"v2f", struct.pack("<2f", 0, 0))
    header += attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0"
    lines = []
    for y in range(height):
        row = b""
        for channel in range(4):
            values = [1.0 if channel == 0 else (x / width, y / height, 0.5)[channel - 1] * 1.5 for x in range(width)]
            row += struct.pack(f"<{width}{'e' if half else 'f'}", *values)
        if compressed:  # The bytes are divided into even and odd ones, and stored as differences.
            parted = row[0::2] + row[1::2]
            parted = parted[:1] + bytes((b - a + 128) & 255 for a, b in zip(parted, parted[1:]))
            packed = zlib.compress(parted)
            row = packed if len(packed) < len(row) else row
        lines.append(struct.pack("<iI", y, len(row)) + row)
    place, offsets = len(header) + 8 * height, b""
    for line in lines:
        offsets += struct.pack("<Q", place)
        place += len(line)
    return header + offsets + b"".join(lines)


def pdf(pages, picture):
    """A PDF with shapes, text in a font that is not in the file, transparency, and a JPEG picture."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = b" ".join(b"%d 0 R" % (6 + 2 * page) for page in range(pages))
    objects.append(b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages))
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    objects.append(b"<< /Type /ExtGState /ca 0.5 >>")
    objects.append(
        b"<< /Type /XObject /Subtype /Image /Width 32 /Height 24 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode "
        b"/Length %d >>\nstream\n%s\nendstream" % (len(picture), picture)
    )
    for page in range(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d 60] /Contents %d 0 R /Resources << /Font << /F 3 0 R >> /ExtGState "
            b"<< /G 4 0 R >> /XObject << /I 5 0 R >> >> >>" % (80 + 10 * page, 7 + 2 * page)
        )
        content = zlib.compress(
            b"1 0 0 rg 5 5 40 30 re f /G gs 0 0 1 rg 20 20 m 60 20 l 40 50 l h f BT /F 12 Tf 10 40 Td (Page %d) Tj ET "
            b"q 32 0 0 24 45 30 cm /I Do Q" % (page + 1)
        )
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content))
    file, offsets = b"%PDF-1.5\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return file + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
        len(objects) + 1,
        len(file),
    )


DRAWINGS = {
    "shapes": """<?xml version="1.0"?>
<!DOCTYPE svg [<!ENTITY colour "#ff8800">]>
<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60" viewBox="0 0 80 60">
<defs><linearGradient id="g"><stop offset="0" stop-color="&colour;"/><stop offset="1" stop-opacity="0.3"/></linearGradient>
<filter id="f" x="-0.2" y="-0.2" width="1.4" height="1.4"><feGaussianBlur stdDeviation="2"/><feOffset dx="2" dy="1"/></filter>
<clipPath id="c"><circle cx="40" cy="30" r="25"/></clipPath><symbol id="s"><path d="M0 0L9 0A5 5 0 0 1 3 9Z"/></symbol></defs>
<rect width="100%" height="100%" fill="url(#g)"/><g clip-path="url(#c)" filter="url(#f)" opacity=".7">
<ellipse cx="30" cy="30" rx="20" ry="1.2em" fill="teal" stroke="#123" stroke-width="2mm" stroke-dasharray="3 1"/>
<use href="#s" x="50" y="10" transform="rotate(30) scale(1.5)"/></g></svg>
""",
    "text": """<svg xmlns="http://www.w3.org/2000/svg" width="4cm" height="2cm" viewBox="0 0 160 80"><style>
text { font: italic 14px sans-serif; fill: rgb(10%, 20%, 90%) } .b { letter-spacing: 2px }</style>
<text x="10" y="30" class="b">Text <tspan dy="5">below</tspan></text><mask id="m"><rect width="80" height="80" fill="white"/></mask>
<pattern id="p" width="8" height="8" patternUnits="userSpaceOnUse"><circle cx="4" cy="4" r="2"/></pattern>
<polygon points="10,70 60,40 150,75" fill="url(#p)" mask="url(#m)"/>
<image x="90" y="5" width="30" height="20" href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="/></svg>
""",
}


def recipes():
    """(format, extension, variant, options, bands, sample, interpretation, pages, metadata) of all files that libvips writes."""
    rich = "rich"
    yield from (
        ("jpeg", "jpg", "baseline", "[Q=80]", 3, UCHAR, SRGB, 1, ""),
        ("jpeg", "jpg", "progressive", "[Q=70,interlace=true]", 3, UCHAR, SRGB, 1, ""),
        ("jpeg", "jpg", "restarts", "[Q=80,restart_interval=2,subsample_mode=off]", 3, UCHAR, SRGB, 1, ""),
        ("jpeg", "jpg", "grey", "[optimize_coding=true]", 1, UCHAR, GREY, 1, ""),
        ("jpeg", "jpg", "cmyk", "[Q=80]", 4, UCHAR, CMYK, 1, ""),
        ("jpeg", "jpg", "rich", "[Q=80,profile=srgb]", 3, UCHAR, SRGB, 1, rich),
        ("png", "png", "plain", "[compression=6]", 3, UCHAR, SRGB, 1, ""),
        ("png", "png", "interlaced", "[interlace=true,filter=all]", 4, UCHAR, SRGB, 1, ""),
        ("png", "png", "16", "[bitdepth=16]", 3, USHORT, RGB16, 1, ""),
        ("png", "png", "palette", "[palette=true,colours=16]", 4, UCHAR, SRGB, 1, ""),
        ("png", "png", "grey-alpha", "", 2, UCHAR, GREY, 1, ""),
        ("png", "png", "bits", "[bitdepth=1]", 1, UCHAR, GREY, 1, ""),
        ("png", "png", "rich", "[profile=p3]", 3, UCHAR, SRGB, 1, rich),
        ("tiff", "tif", "strips", "[compression=none]", 3, UCHAR, SRGB, 1, ""),
        ("tiff", "tif", "tiled", "[compression=deflate,predictor=horizontal,tile=true,tile_width=32,tile_height=32]", 4, UCHAR, SRGB, 1, ""),
        ("tiff", "tif", "pyramid", "[compression=lzw,tile=true,tile_width=32,tile_height=32,pyramid=true]", 3, UCHAR, SRGB, 1, ""),
        ("tiff", "tif", "16", "[compression=lzw,predictor=horizontal]", 3, USHORT, RGB16, 1, ""),
        ("tiff", "tif", "zstd", "[compression=zstd,predictor=horizontal]", 3, UCHAR, SRGB, 1, ""),
        ("tiff", "tif", "float", "[compression=deflate,predictor=float]", 3, FLOAT, SRGB, 1, ""),
        ("tiff", "tif", "jpeg", "[compression=jpeg,Q=80]", 3, UCHAR, SRGB, 1, ""),
        ("tiff", "tif", "cmyk", "[compression=packbits]", 4, UCHAR, CMYK, 1, ""),
        ("tiff", "tif", "big", "[bigtiff=true,compression=deflate]", 1, UCHAR, GREY, 1, ""),
        ("tiff", "tif", "bilevel", "[bitdepth=1,compression=ccittfax4,miniswhite=true]", 1, UCHAR, GREY, 1, ""),
        ("tiff", "tif", "pages", "[compression=deflate]", 3, UCHAR, SRGB, 3, ""),
        ("tiff", "tif", "rich", "[compression=deflate,profile=srgb]", 3, UCHAR, SRGB, 1, rich),
        ("gif", "gif", "still", "", 3, UCHAR, SRGB, 1, ""),
        ("gif", "gif", "animated", "", 4, UCHAR, SRGB, 4, ""),
        ("gif", "gif", "few-colours", "[bitdepth=2]", 3, UCHAR, SRGB, 1, ""),
        ("webp", "webp", "lossy", "[Q=70]", 3, UCHAR, SRGB, 1, ""),
        ("webp", "webp", "lossless", "[lossless=true]", 4, UCHAR, SRGB, 1, ""),
        ("webp", "webp", "alpha", "[Q=60,alpha_q=50]", 4, UCHAR, SRGB, 1, ""),
        ("webp", "webp", "animated", "[Q=60]", 4, UCHAR, SRGB, 4, ""),
        ("webp", "webp", "rich", "[Q=70,profile=srgb]", 3, UCHAR, SRGB, 1, rich),
        ("avif", "avif", "plain", "[compression=av1,effort=0]", 3, UCHAR, SRGB, 1, ""),
        ("avif", "avif", "alpha", "[compression=av1,effort=0]", 4, UCHAR, SRGB, 1, ""),
        ("avif", "avif", "lossless", "[compression=av1,effort=0,lossless=true]", 3, UCHAR, SRGB, 1, ""),
        ("avif", "avif", "rich", "[compression=av1,effort=0]", 3, UCHAR, SRGB, 1, rich),
        ("heic", "heic", "plain", "[compression=hevc]", 3, UCHAR, SRGB, 1, ""),
        ("heic", "heic", "alpha", "[compression=hevc]", 4, UCHAR, SRGB, 1, ""),
        ("heic", "heic", "pages", "[compression=hevc]", 3, UCHAR, SRGB, 2, ""),
        ("heic", "heic", "rich", "[compression=hevc]", 3, UCHAR, SRGB, 1, rich),
        ("jp2", "jp2", "lossless", "[lossless=true]", 3, UCHAR, SRGB, 1, ""),
        ("jp2", "jp2", "tiled", "[Q=40,tile_width=32,tile_height=32]", 4, UCHAR, SRGB, 1, ""),
        ("jp2", "jp2", "16", "[lossless=true]", 1, USHORT, GREY16, 1, ""),
        ("jxl", "jxl", "lossy", "[Q=70,effort=3]", 3, UCHAR, SRGB, 1, ""),
        ("jxl", "jxl", "lossless", "[lossless=true,effort=3]", 4, UCHAR, SRGB, 1, ""),
        ("jxl", "jxl", "16", "[lossless=true,effort=3]", 3, USHORT, RGB16, 1, ""),
        ("jxl", "jxl", "rich", "[Q=70,effort=3]", 3, UCHAR, SRGB, 1, rich),
        ("ppm", "ppm", "binary", "", 3, UCHAR, SRGB, 1, ""),
        ("ppm", "ppm", "text", "[ascii=true]", 3, UCHAR, SRGB, 1, ""),
        ("ppm", "ppm", "16", "", 3, USHORT, RGB16, 1, ""),
        ("ppm", "pnm", "grey", "[format=pgm]", 1, UCHAR, GREY, 1, ""),
    )


def make(folder):
    """Writes all seeds to a folder, as FORMAT.VARIANT.EXTENSION. Returns what libvips could not write, with its words."""
    folder.mkdir(parents=True, exist_ok=True)
    vips, missing = Vips(), []
    thumbnail = folder / "thumbnail.jpg"
    vips.write(thumbnail, "[Q=50]", samples(32, 24, 3, UCHAR), 32, 24, 3, UCHAR, SRGB, 0, {})
    small = thumbnail.read_bytes()
    thumbnail.unlink()
    rich = {"exif-data": exif(small), "xmp-data": XMP, "iptc-data": IPTC}
    for index, (name, extension, variant, options, bands, sample, interpretation, pages, metadata) in enumerate(recipes()):
        width, height = (160, 120) if index % 9 == 0 else (40 + 8 * (index % 7), 33 + 5 * (index % 5))
        path = folder / f"{name}.{variant}.{extension}"
        pixels = samples(width, height * pages, bands, sample)
        error = vips.write(
            path, options, pixels, width, height * pages, bands, sample, interpretation, height if pages > 1 else 0, rich if metadata else {}
        )
        if error:
            path.unlink(missing_ok=True)
            missing.append((path.name, error))
    for half, compressed in ((True, False), (True, True), (False, False)):
        name = f"exr.{'half' if half else 'float'}{'-zip' if compressed else ''}.exr"
        (folder / name).write_bytes(open_exr(48, 36, half, compressed))
    for pages in (1, 3):
        (folder / f"pdf.{pages}-pages.pdf").write_bytes(pdf(pages, small))
    for name, text in DRAWINGS.items():
        (folder / f"svg.{name}.svg").write_text(text)
    for name in ("button", "cup-mask", "label"):
        (folder / f"svg.{name}.svg").write_bytes((PROJECT / "jobs/pictures" / f"{name}.svg").read_bytes())
    fixture = PROJECT / "Tests/ImageFilesTests/Fixtures/cmyk_should_be_srgb.jpg"
    (folder / "jpeg.adobe-cmyk.jpg").write_bytes(fixture.read_bytes())
    return missing

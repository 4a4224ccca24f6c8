"""What a user would write in place of a job: one process for each core, fed from one list of files.

    job_peers.py (vips|opencv) (copy|blur|thumbnail|invert) RADIUS OUT_FOLDER (PICTURE…|@LIST)

LIST is a file with a picture in each line. `copy` only decodes and encodes; `invert` writes PPM, and is for vips alone. Run by
jobs.py, under a Python whose libvips is the wheel's or Debian's.
"""

import multiprocessing
import os
import sys
from pathlib import Path

QUALITY = 82
SIDE = 320


def vips(work, radius, source, target):
    import pyvips

    if work == "thumbnail":
        picture = pyvips.Image.thumbnail(source, SIDE, height=SIDE)
    else:
        picture = pyvips.Image.new_from_file(source, access="sequential")
    if work == "invert":
        picture.invert().write_to_file(target.removesuffix(".jpg") + ".ppm")
        return
    if work != "copy":
        picture = picture.gaussblur(radius)
    picture.write_to_file(f"{target}[Q={QUALITY}]")


def opencv(work, radius, source, target):
    import cv2

    cv2.setNumThreads(1)
    if work == "thumbnail":
        picture = cv2.imread(source, cv2.IMREAD_REDUCED_COLOR_2)
        scale = SIDE / max(picture.shape[:2])
        picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    else:
        picture = cv2.imread(source)
    if work != "copy":
        picture = cv2.GaussianBlur(picture, (0, 0), radius)
    cv2.imwrite(target, picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])


def main():
    library, work, radius, folder, *pictures = sys.argv[1:]
    if pictures[0].startswith("@"):
        pictures = Path(pictures[0][1:]).read_text().splitlines()
    do = {"vips": vips, "opencv": opencv}[library]
    orders = [(work, float(radius), picture, f"{folder}/{Path(picture).stem}.jpg") for picture in pictures]
    if len(orders) == 1:
        do(*orders[0])
        return
    # One thread in each process: the processes are as many as the cores.
    os.environ["VIPS_CONCURRENCY"] = "1"
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        pool.starmap(do, orders, chunksize=max(1, len(orders) // 10_000))


if __name__ == "__main__":
    main()

"""Draws spectrograms side by side as a PNG of 256 colours, with nothing but numpy, scipy and zlib.

Answers each line of JSON {"panels": [{"title": ..., "path": ..., "fromS": ...}, ...], "seconds": ..., "into":
path} with the picture's [width, height]. Every panel shows so many seconds; WAVs are mono, 16-bit. Frequencies go up to
8 kHz, levels 60 dB down from a panel's loudest.
"""
import json
import math
import struct
import sys
import zlib

import numpy as np
from letters import drawn
from scipy.io import wavfile
from scipy.ndimage import zoom
from scipy.signal import resample_poly, stft

RATE = 16000
PANEL_WIDTH, PANEL_HEIGHT, GAP = 360, 384, 16
LEFT, TOP, RIGHT, BOTTOM = 62, 44, 16, 62
RANGE_DB = 60
SHADES = 40
WHITE, INK = 254, 255
# From quiet to loud: nearly black, violet, red, orange, pale yellow.
STOPS = np.array([(4, 4, 20), (72, 18, 108), (172, 46, 98), (240, 116, 60), (252, 206, 110), (252, 252, 200)], float)


def levels(panel, seconds):
    rate, samples = wavfile.read(panel["path"])
    begin = round(panel.get("fromS", 0) * rate)
    piece = np.zeros(round(seconds * rate))
    found = samples[begin : begin + len(piece)]
    piece[: len(found)] = found
    common = math.gcd(rate, RATE)
    signal = resample_poly(piece, RATE // common, rate // common)
    # Windows of 25 ms show harmonics and syllables alike.
    _, _, bins = stft(signal, RATE, "hann", nperseg=400, noverlap=320, nfft=1024)
    db = 20 * np.log10(np.abs(bins) + 1e-6)
    shades = np.clip((db - db.max()) / RANGE_DB + 1, 0, 1)[::-1]
    scaled = zoom(shades, (PANEL_HEIGHT / shades.shape[0], PANEL_WIDTH / shades.shape[1]), order=1)
    return np.round(np.clip(scaled, 0, 1) * (SHADES - 1)).astype(np.uint8)


def put(canvas, text, x, y, anchor=0.5):
    """Writes with the text's top at y; x is its left, middle or right as the anchor is 0, 0.5 or 1."""
    ink = drawn(text)
    left = round(x - anchor * ink.shape[1])
    canvas[y : y + ink.shape[0], left : left + ink.shape[1]][ink] = INK


def picture(panels, seconds):
    width = LEFT + len(panels) * PANEL_WIDTH + (len(panels) - 1) * GAP + RIGHT
    canvas = np.full((TOP + PANEL_HEIGHT + BOTTOM, width), WHITE, np.uint8)
    floor = TOP + PANEL_HEIGHT
    for index, panel in enumerate(panels):
        left = LEFT + index * (PANEL_WIDTH + GAP)
        canvas[TOP:floor, left : left + PANEL_WIDTH] = levels(panel, seconds)
        put(canvas, panel["title"], left + PANEL_WIDTH / 2, 14)
        for second in range(math.ceil(seconds)):
            x = left + round(second / seconds * (PANEL_WIDTH - 1))
            canvas[floor : floor + 6, x : x + 2] = INK
            put(canvas, str(second), x + 1, floor + 10)
        put(canvas, "time (s)", left + PANEL_WIDTH / 2, floor + 34)
    for khz in range(0, 9, 2):
        y = floor - round(khz / 8 * (PANEL_HEIGHT - 1)) - 1
        canvas[y - 1 : y + 1, LEFT - 6 : LEFT] = INK
        put(canvas, str(khz), LEFT - 10, min(y - 7, floor - 14), 1)
    upright = np.rot90(drawn("frequency (kHz)"))
    middle = TOP + PANEL_HEIGHT // 2 - upright.shape[0] // 2
    canvas[middle : middle + upright.shape[0], 8 : 8 + upright.shape[1]][upright] = INK
    return canvas


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(canvas):
    places = np.linspace(0, len(STOPS) - 1, SHADES)
    palette = np.full((256, 3), 255, np.uint8)
    palette[:SHADES] = np.stack([np.interp(places, range(len(STOPS)), STOPS[:, c]) for c in range(3)], 1)
    palette[INK] = 30
    height, width = canvas.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), canvas], 1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"PLTE", palette.tobytes()), chunk(b"IDAT", zlib.compress(rows, 9))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


print("{}", flush=True)

for line in sys.stdin:
    order = json.loads(line)
    canvas = picture(order["panels"], order["seconds"])
    with open(order["into"], "wb") as out:
        out.write(png(canvas))
    print(json.dumps([canvas.shape[1], canvas.shape[0]]), flush=True)

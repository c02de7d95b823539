"""Makes the recordings of this folder: `python make.py`, with PyAV 18.1.0 and numpy installed.

Each is a second and a quarter: 440 Hz at half of full scale on the left (or alone), and 1000 Hz at a quarter on the right.
"""

from fractions import Fraction
from pathlib import Path

import av
import numpy

HERE = Path(__file__).parent
SECONDS = 1.25


def signal(rate: int, channels: int) -> numpy.ndarray:
    times = numpy.arange(int(rate * SECONDS)) / rate
    left = 0.5 * numpy.sin(2 * numpy.pi * 440 * times)
    right = 0.25 * numpy.sin(2 * numpy.pi * 1000 * times)
    return numpy.stack([left, right][:channels]).astype(numpy.float32)


def write(name: str, codec: str, rate: int, channels: int, kind: str, bit_rate=None, options=None, layout=None) -> None:
    with av.open(str(HERE / name), "w", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout or ("mono" if channels == 1 else "stereo"))
        stream.format = kind
        if bit_rate:
            stream.bit_rate = bit_rate
        stream.options = options or {}
        resampler = av.AudioResampler(format=kind, layout=stream.layout, rate=rate)
        samples = signal(rate, channels)
        frame_size = 960
        for start in range(0, samples.shape[1], frame_size):
            piece = numpy.ascontiguousarray(samples[:, start : start + frame_size])
            frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout=stream.layout.name)
            frame.sample_rate = rate
            frame.pts = start
            frame.time_base = Fraction(1, rate)
            for each in resampler.resample(frame):
                container.mux(stream.encode(each))
        for each in resampler.resample(None):
            container.mux(stream.encode(each))
        container.mux(stream.encode(None))


write("mono-44100.mp3", "libmp3lame", 44_100, 1, "fltp", 64_000)
write("stereo-22050.mp3", "libmp3lame", 22_050, 2, "fltp", 48_000)
write("mono.ogg", "libopus", 48_000, 1, "flt", 24_000)
write("stereo.ogg", "libopus", 48_000, 2, "flt", 48_000)
write("mono.webm", "libopus", 48_000, 1, "flt", 24_000)
write("mono-16000.flac", "flac", 16_000, 1, "s16")
write("stereo-44100.flac", "flac", 44_100, 2, "s16")
write("stereo-8000-24.flac", "flac", 8_000, 2, "s32", options={"compression_level": "12"})
write("mono.m4a", "aac", 44_100, 1, "fltp", 32_000)
write("mono.aac", "aac", 44_100, 1, "fltp", 32_000)

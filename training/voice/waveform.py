"""The waveform kernel (src/engines/embedded/kernel), differentiable with respect to the frames that it is given."""

import numpy as np
import torch
from torch import Tensor

from network import BINS

RATE = 24_000
HOP = 300
WINDOW = 4 * HOP
VOICED_ABOVE_HZ = 40.0
MAX_HARMONIC_HZ = 11_000.0
OVERLAP = 1.5
"""Sum of the squares of four Hann windows a quarter apart."""

HANN = torch.hann_window(WINDOW)


def pulses(pitch_hz: np.ndarray) -> np.ndarray:
    """The band-limited pulse train of a sentence's pitch, a value for each frame: [HOP · frames] samples."""
    position = (np.arange(HOP * len(pitch_hz)) + 0.5) / HOP - 0.5
    pitch = np.interp(position, np.arange(len(pitch_hz)), pitch_hz.astype(np.float64))
    voiced = pitch > VOICED_ABOVE_HZ
    pitch = np.maximum(pitch, VOICED_ABOVE_HZ)
    phase = 2 * np.pi * (np.cumsum(pitch / RATE) % 1)
    count = np.floor(MAX_HARMONIC_HZ / pitch) + 0.5
    below = 2 * np.sin(phase / 2)
    is_peak = np.abs(below) <= 2e-3
    train = np.where(is_peak, count, np.sin(count * phase) / np.where(is_peak, 1, below)) - 0.5
    return np.where(voiced, train, 0).astype(np.float32)


def windows(samples: Tensor) -> Tensor:
    """[..., HOP · frames] to [..., frames, WINDOW]: frame n is centred on the start of hop n."""
    return torch.nn.functional.pad(samples, (2 * HOP, 2 * HOP)).unfold(-1, WINDOW, HOP)[..., :-1, :]


def render(spectra: Tensor, pulse_windows: Tensor, noise: Tensor | None) -> Tensor:
    """
    Frames and what of the pulse train is under their windows to samples.

    @param spectra [batch, frames, 3005].
    @param pulse_windows [batch, frames, WINDOW].
    @param noise complex, [batch, frames, BINS], of variance 1 in either part; None for none.
    @returns [batch, HOP · (frames + 3)]: the first sample lies two hops before the first frame's centre.
    """
    pulse_gain, pulse_phase, noise_gain, free_gain, free_phase = spectra.split(BINS, -1)
    magnitude = lambda gain: gain.clamp(max=7).exp()
    source = torch.fft.rfft(pulse_windows * HANN / (WINDOW / 4))
    spectrum = torch.polar(magnitude(pulse_gain), torch.pi * pulse_phase.tanh()) * source
    spectrum = spectrum + torch.polar(magnitude(free_gain), free_phase)
    if noise is not None:
        spectrum = spectrum + magnitude(noise_gain) * noise
    frames = torch.fft.irfft(spectrum, WINDOW) * HANN / OVERLAP
    batch, count, _ = frames.shape
    hops = frames.view(batch, count, 4, HOP)
    out = frames.new_zeros(batch, count + 3, HOP)
    for quarter in range(4):
        out[:, quarter : quarter + count] += hops[:, :, quarter]
    return out.view(batch, -1)


def speak(spectra: Tensor, pitch_hz: np.ndarray, noise: Tensor | None = None) -> Tensor:
    """A whole sentence's frames [frames, 3005] to its samples [HOP · frames]."""
    source = windows(torch.from_numpy(pulses(pitch_hz)))
    samples = render(spectra[None], source[None], None if noise is None else noise[None])[0]
    return samples[2 * HOP : 2 * HOP + HOP * len(spectra)]

"""
Critics of a training run: networks that learn to tell what the waveform kernel renders from what the teacher said.

Distances of spectra are least for an average of all that might have been said, which is smoother than anything that is; what
critics are shown, they miss in it. One for each of three resolutions looks at log magnitudes of a spectrogram
(UnivNet, Jang et al. 2021), with the losses of least squares (Mao et al. 2017) and of matched features (MelGAN, Kumar et al. 2019).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

RESOLUTIONS = (1024, 512, 256)
CHANNELS = 24
RATE = 1e-3
JUDGED_WEIGHT, FEATURES_WEIGHT = 1.0, 5.0
FLOOR = 1e-4
"""Of a magnitude, before its logarithm."""


class Critics(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.critics = nn.ModuleList(Critic(size) for size in RESOLUTIONS)
        self.optimizer = torch.optim.AdamW(self.parameters(), RATE, betas=(0.8, 0.99), weight_decay=0)

    def learn(self, pairs: list[tuple[Tensor, Tensor]]) -> float:
        """
        One step towards 1 for what the teacher said and 0 for what was rendered.

        @param pairs: of what was rendered and what the teacher said, [samples] each
        @returns how far they were from that
        """
        self.optimizer.zero_grad()
        total = torch.zeros(())
        for spoken, said in pairs:
            for critic in self.critics:
                real, fake = critic(said)[-1], critic(spoken.detach())[-1]
                total = total + (((real - 1) ** 2).mean() + (fake**2).mean()) / len(RESOLUTIONS) / len(pairs)
        total.backward()
        self.optimizer.step()
        return float(total.detach())

    def losses(self, spoken: Tensor, said: Tensor) -> dict[str, Tensor]:
        """How far what was rendered is from being taken for the teacher's, and from giving the same features."""
        judged, features = spoken.new_zeros(()), spoken.new_zeros(())
        for critic in self.critics:
            with torch.no_grad():
                *wanted, _ = critic(said)
            *given, fake = critic(spoken)
            judged = judged + ((fake - 1) ** 2).mean() / len(RESOLUTIONS)
            features = features + sum(F.l1_loss(a, b) for a, b in zip(given, wanted)) / len(wanted) / len(RESOLUTIONS)
        return {"judged": JUDGED_WEIGHT * judged, "features": FEATURES_WEIGHT * features}


class Critic(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("window", torch.hann_window(size))
        self.layers = nn.ModuleList([
            layer(1, CHANNELS, (7, 5), (2, 2)),
            layer(CHANNELS, CHANNELS, (5, 3), (2, 1)),
            layer(CHANNELS, CHANNELS, (5, 3), (2, 2)),
            layer(CHANNELS, CHANNELS, (3, 3), (2, 1)),
            layer(CHANNELS, 1, (3, 3), (1, 1)),
        ])

    def forward(self, samples: Tensor) -> list[Tensor]:
        """@returns each layer's output: features, and last of all the verdicts."""
        spectrum = torch.stft(samples[None], self.size, self.size // 4, window=self.window, return_complex=True)
        x = ((spectrum.abs() / self.size**0.5 + FLOOR).log() / 4 + 1)[:, None]
        out = []
        for each in self.layers[:-1]:
            x = F.leaky_relu(each(x), 0.1)
            out.append(x)
        return [*out, self.layers[-1](x)]


def layer(channels: int, out: int, kernel: tuple[int, int], stride: tuple[int, int]) -> nn.Module:
    """[bins, frames]."""
    padding = (kernel[0] // 2, kernel[1] // 2)
    return nn.utils.parametrizations.weight_norm(nn.Conv2d(channels, out, kernel, stride, padding))

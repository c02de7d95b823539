import type { HopSource } from "../prosody/sentence-audio.ts";
import { SPECTRUM_VALUES } from "./geometry.ts";
import type { Spectra, SpectrumStream } from "./spectrum-stream.ts";
import type { Waveform } from "./waveform.ts";

/** A sentence's hops from its decoded spectra. When the frames are used up, what is left of their overlap. */
export class SpectralHops implements HopSource {
  /** A frame completes the hop two before its own: the first one holds only the first frame's faint beginning. */
  readonly lead = 2;
  readonly #stream: SpectrumStream;
  readonly #waveform: Waveform;
  #spectra: Spectra | null = null;
  #inSpectra = 0;

  constructor(stream: SpectrumStream, waveform: Waveform) {
    this.#stream = stream;
    this.#waveform = waveform;
  }

  async make(out: Float32Array): Promise<void> {
    if (this.#spectra === null || this.#inSpectra === this.#spectra.count) {
      this.#spectra = await this.#stream.next();
      this.#inSpectra = 0;
    }
    if (this.#spectra === null) {
      this.#waveform.drain(out);
    } else {
      this.#waveform.add(this.#spectra.values, this.#inSpectra * SPECTRUM_VALUES, out);
      this.#inSpectra += 1;
    }
  }
}

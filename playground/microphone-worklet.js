// In the browser's sound thread: what the microphone hears as 16-bit samples at 24 kHz, in pieces of 20 ms.

const RATE_HZ = 24_000;
const PIECE = 480;

class Microphone extends AudioWorkletProcessor {
  #step = sampleRate / RATE_HZ;
  #piece = new Int16Array(PIECE);
  #length = 0;
  /** What the next sample out is made of: the sum so far, and how many samples in are missing. */
  #sum = 0;
  #missing = this.#step;
  #last = 0;
  #at = 0;

  process([[channel]]) {
    for (const sample of channel ?? []) {
      if (this.#step >= 1) this.#average(sample);
      else this.#interpolate(sample);
    }
    return true;
  }

  /** Each sample out is the mean of the samples in that it spans. */
  #average(sample) {
    const share = Math.min(1, this.#missing);
    this.#sum += share * sample;
    this.#missing -= share;
    if (this.#missing > 1e-9) return;
    this.#push(this.#sum / this.#step);
    this.#sum = (1 - share) * sample;
    this.#missing = this.#step - (1 - share);
  }

  /** Of a slower microphone: on the line between two samples in. */
  #interpolate(sample) {
    for (; this.#at < 1; this.#at += this.#step) this.#push(this.#last + this.#at * (sample - this.#last));
    this.#at -= 1;
    this.#last = sample;
  }

  #push(sample) {
    this.#piece[this.#length++] = 32_767 * Math.max(-1, Math.min(1, sample));
    if (this.#length < PIECE) return;
    this.port.postMessage(this.#piece);
    this.#length = 0;
  }
}

registerProcessor("microphone", Microphone);

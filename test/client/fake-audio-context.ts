import { SAMPLE_RATE_HZ, type SoundContext, type SoundSource } from "../../src/client/player.ts";

interface Scheduled {
  readonly at: number;
  readonly samples: Float32Array;
  until: number;
  isOver: boolean;
  onended: (() => void) | null;
}

/** An audio context whose time the test advances, and which records its output. */
export class FakeSound implements SoundContext {
  currentTime = 0;
  readonly outputLatency = 0;
  readonly destination = {};
  readonly #scheduled: Scheduled[] = [];

  createBuffer(_channels: number, length: number): { getChannelData(): Float32Array } {
    const samples = new Float32Array(length);
    return { getChannelData: () => samples };
  }

  createBufferSource(): SoundSource {
    const scheduled = this.#scheduled;
    const now = () => this.currentTime;
    let mine: Scheduled | null = null;
    return {
      buffer: null,
      onended: null,
      connect() {},
      start(atS) {
        const samples = (this.buffer as { getChannelData(): Float32Array }).getChannelData();
        const at = atS * SAMPLE_RATE_HZ;
        const until = at + samples.length;
        mine = {
          at,
          samples,
          until,
          isOver: false,
          onended: () => (this.onended as (() => void) | null)?.(),
        };
        scheduled.push(mine);
      },
      stop() {
        if (mine !== null) mine.until = Math.min(mine.until, Math.round(now() * SAMPLE_RATE_HZ));
      },
    };
  }

  async resume(): Promise<void> {}

  /** Advances the time by quanta and ends sources. */
  goOn(seconds: number): void {
    const end = this.currentTime + seconds;
    while (this.currentTime < end - 1e-9) {
      this.currentTime += 128 / SAMPLE_RATE_HZ;
      for (const source of this.#scheduled) {
        if (source.isOver || source.until > this.currentTime * SAMPLE_RATE_HZ) continue;
        source.isOver = true;
        source.onended?.();
      }
    }
  }

  /** Returns the output so far as PCM16. Throws if two sounds overlap. */
  heard(): Int16Array {
    const heard = new Int16Array(Math.round(this.currentTime * SAMPLE_RATE_HZ));
    const isTaken = new Uint8Array(heard.length);
    for (const { at, samples, until } of this.#scheduled) {
      if (Math.abs(at - Math.round(at)) > 1e-6) throw new Error(`a sound begins between two samples: ${at}`);
      const from = Math.round(at);
      for (let i = 0; i < samples.length && from + i < until && from + i < heard.length; i++) {
        if (isTaken[from + i] === 1) throw new Error(`two sounds overlap at ${from + i}`);
        isTaken[from + i] = 1;
        heard[from + i] = Math.round(samples[i]! * 32_768);
      }
    }
    return heard;
  }
}

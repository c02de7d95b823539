import { SAMPLE_RATE_HZ } from "./wire.js";

/** How far ahead the first frame is scheduled, and the next one after an underrun: what the network may waver. */
const LEAD_S = 0.06;

let context = null;

/** Opens the sound device, which takes a moment. Call it in answer to a click or a key: browsers ask for that. */
export function wakeSound() {
  context ??= new AudioContext({ sampleRate: SAMPLE_RATE_HZ });
  void context.resume();
}

/** Plays frames without gaps as they come, and counts the times that one came too late. */
export class Player {
  underruns = 0;
  #sources = new Set();
  /** Times without a gap: when one began, and which seconds of the audio it holds. */
  #stretches = [];
  #nextS = 0;
  #givenS = 0;
  #isComplete = false;
  #onEnd;

  /** @param onEnd called once, when the last frame has been heard or `stop` was called. */
  constructor(onEnd) {
    this.#onEnd = onEnd;
    wakeSound();
  }

  /** Seconds of audio heard so far. */
  get heardS() {
    const stretch = this.#stretches.findLast(({ atS }) => atS <= context.currentTime);
    return stretch ? Math.min(stretch.toS, stretch.fromS + context.currentTime - stretch.atS) : 0;
  }

  add(pcm) {
    if (this.#nextS < context.currentTime || this.#stretches.length === 0) {
      if (this.#stretches.length > 0) this.underruns++;
      this.#nextS = context.currentTime + LEAD_S;
      this.#stretches.push({ atS: this.#nextS, fromS: this.#givenS, toS: this.#givenS });
    }
    const buffer = context.createBuffer(1, pcm.length, SAMPLE_RATE_HZ);
    buffer.copyToChannel(
      Float32Array.from(pcm, (sample) => sample / 32_768),
      0,
    );
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.start(this.#nextS);
    source.onended = () => {
      this.#sources.delete(source);
      if (this.#isComplete && this.#sources.size === 0) this.stop();
    };
    this.#sources.add(source);
    this.#nextS += buffer.duration;
    this.#givenS += buffer.duration;
    this.#stretches.at(-1).toS = this.#givenS;
  }

  /** No more frames will come. */
  complete() {
    this.#isComplete = true;
    if (this.#sources.size === 0) this.stop();
  }

  stop() {
    for (const source of this.#sources) {
      source.onended = null;
      source.stop();
    }
    this.#sources.clear();
    const onEnd = this.#onEnd;
    this.#onEnd = () => {};
    onEnd();
  }
}

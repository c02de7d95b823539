/** The rate of everything that is played, in Hz. */
export const SAMPLE_RATE_HZ = 24_000;

/** What the player uses of an `AudioContext`: any is one. */
export interface SoundContext {
  /** Seconds. */
  readonly currentTime: number;
  /** Seconds from what is computed to what is heard, where the browser tells. */
  readonly outputLatency?: number;
  readonly destination: object;
  createBuffer(channels: number, length: number, sampleRate: number): SoundBuffer;
  createBufferSource(): SoundSource;
  resume(): Promise<void>;
}

/** What it uses of an `AudioBuffer`. */
export interface SoundBuffer {
  getChannelData(channel: number): Float32Array;
}

/** What it uses of an `AudioBufferSourceNode`. */
export interface SoundSource {
  buffer: unknown;
  onended: unknown;
  connect(destination: object): unknown;
  start(atS: number): void;
  stop(): void;
}

let shared: SoundContext | undefined;

/**
 * Opens the sound device, which takes a moment, and returns its context at 24 kHz, the same one every time. Browsers let
 * it sound only after a click or a key was pressed: call it then.
 */
export function wakeSound(): SoundContext {
  const { AudioContext } = globalThis as unknown as {
    AudioContext: new (options: { sampleRate: number }) => SoundContext;
  };
  shared ??= new AudioContext({ sampleRate: SAMPLE_RATE_HZ });
  void shared.resume();
  return shared;
}

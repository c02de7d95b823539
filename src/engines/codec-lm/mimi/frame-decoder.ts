import { joinSamples } from "../../../audio/pcm.ts";

/** Codes of a frame, one per codebook, or of the first codebooks only. */
export type CodeFrame = readonly number[];

export interface FrameDecoder {
  /** Starts a stream, whose chunks decode as its whole would. */
  begin(): DecodedStream;
  /**
   * Decodes a frame of each of several streams together.
   *
   * @param pieces frames of different streams of this decoder
   * @returns 1920 samples for each, identical to decoding it alone
   */
  decodeTogether(pieces: readonly StreamFrame[]): Promise<Float32Array[]>;
  release(): Promise<void>;
}

export interface StreamFrame {
  readonly stream: DecodedStream;
  readonly codes: CodeFrame;
}

export interface DecodedStream {
  /** Decodes the next frames. @returns 1920 samples for each */
  decode(frames: readonly CodeFrame[]): Promise<Float32Array>;
  /** Starts a new stream after frames whose audio is not needed, with at most the work of decoding them. */
  prime(frames: readonly CodeFrame[]): Promise<void>;
}

/** Decoder whose memory of each stream is a `State`. */
export interface StatefulDecoder<State> {
  begin(): State;
  /** @param frames of each stream, equally many, at least one @returns the samples, stream after stream */
  decode(states: readonly State[], frames: readonly (readonly CodeFrame[])[]): Promise<Float32Array>;
  prime(state: State, frames: readonly CodeFrame[]): Promise<void>;
  release(): Promise<void>;
}

export function createFrameDecoder<State>(codec: StatefulDecoder<State>): FrameDecoder {
  const states = new WeakMap<DecodedStream, State>();
  const stateOf = ({ stream }: StreamFrame): State => {
    const state = states.get(stream);
    if (state === undefined) throw new Error("The stream is not one of this decoder's.");
    return state;
  };
  return {
    begin() {
      const state = codec.begin();
      const stream: DecodedStream = {
        async decode(frames) {
          const samples: Float32Array[] = [];
          for (let from = 0; from < frames.length; from += MAX_FRAMES_PER_RUN)
            samples.push(await codec.decode([state], [frames.slice(from, from + MAX_FRAMES_PER_RUN)]));
          return joinSamples(samples);
        },
        async prime(frames) {
          if (frames.length > 0) await codec.prime(state, frames);
        },
      };
      states.set(stream, state);
      return stream;
    },
    async decodeTogether(pieces) {
      if (pieces.length === 0) return [];
      const those = pieces.map(stateOf);
      if (new Set(those).size < those.length)
        throw new Error("A stream has two frames to be decoded at once.");
      const samples = await codec.decode(
        those,
        pieces.map(({ codes }) => [codes]),
      );
      const each = samples.length / pieces.length;
      return pieces.map((_, at) => samples.slice(at * each, (at + 1) * each));
    },
    release: () => codec.release(),
  };
}

/** Limits the memory of a run. */
const MAX_FRAMES_PER_RUN = 8;

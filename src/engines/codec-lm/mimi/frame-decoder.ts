import { joinSamples } from "../../../audio/pcm.ts";

/** A frame's codes, one of each codebook, or of the first ones. */
export type CodeFrame = readonly number[];

/** Makes sound of codes: a codec's decoder in memory. */
export interface FrameDecoder {
  /** A signal of its own, piece by piece: as one would be decoded in one go. */
  begin(): DecodedStream;
  /**
   * A frame of each of several streams, computed together.
   *
   * @param pieces each of another stream of this decoder
   * @returns 1920 samples for each, the very ones that it would be given alone
   */
  decodeTogether(pieces: readonly StreamFrame[]): Promise<Float32Array[]>;
  /** Frees the weights. */
  release(): Promise<void>;
}

export interface StreamFrame {
  readonly stream: DecodedStream;
  readonly codes: CodeFrame;
}

export interface DecodedStream {
  /** Goes on with frames. @returns 1920 samples for each */
  decode(frames: readonly CodeFrame[]): Promise<Float32Array>;
  /**
   * Has a new stream begin behind frames whose sound nobody wants: what is decoded next is what it would be behind
   * theirs, at no more than the work.
   */
  prime(frames: readonly CodeFrame[]): Promise<void>;
}

/** What a codec does with what its layers remember of streams, `State`. */
export interface StatefulDecoder<State> {
  begin(): State;
  /** @param frames as many of each stream, at least one @returns the samples, a stream's behind another's */
  decode(states: readonly State[], frames: readonly (readonly CodeFrame[])[]): Promise<Float32Array>;
  /** As `prime` has it. */
  prime(state: State, frames: readonly CodeFrame[]): Promise<void>;
  release(): Promise<void>;
}

/** The decoder that such a codec makes. */
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
          for (let from = 0; from < frames.length; from += MAX_FRAMES_PER_RUN) {
            samples.push(await codec.decode([state], [frames.slice(from, from + MAX_FRAMES_PER_RUN)]));
          }
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

/** Frames of one stream that are computed together: what a run needs grows with them. */
const MAX_FRAMES_PER_RUN = 8;

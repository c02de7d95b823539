import type { Encoding } from "../audio/encode/encoder.ts";
import { openEncoder } from "../audio/encode/open-encoder.ts";
import { joinBytes, toPcm16 } from "../audio/pcm.ts";
import type { Script } from "./script.ts";
import type { EncodedPiece, Frame, Mouth, SpeechEvents, SpeechModel, SpeechReport } from "./speech-model.ts";

/** Returns a script's speech as a file. Models that compute in another thread also encode there. */
export function speakEncoded(
  model: SpeechModel,
  script: Script,
  encoding: Encoding,
  signal: AbortSignal,
): AsyncGenerator<EncodedPiece, SpeechReport, void> {
  return (
    model.speakEncoded?.(script, encoding, signal) ??
    encodedSpeech(model.speak(script, signal), encoding, script.seed)
  );
}

/**
 * Encodes speech as it is spoken, one piece per frame. A frame that yields no bytes yet is merged into the next, with
 * its events. Ends, throws and stops as the speech does, and frees the codec.
 *
 * @param seed names the stream in containers that need a stream id
 */
export async function* encodedSpeech(
  speech: AsyncGenerator<Frame, SpeechReport, void>,
  encoding: Encoding,
  seed: bigint,
): AsyncGenerator<EncodedPiece, SpeechReport, void> {
  const encoder = await openEncoder(encoding, Number(BigInt.asUintN(32, seed)));
  let isOver = false;
  try {
    let sampleCount = 0;
    let begun: SpeechEvents = {};
    let head = encoder.head();
    for (;;) {
      const step = await speech.next();
      isOver = step.done === true;
      if (!step.done) {
        sampleCount += step.value.samples.length;
        begun = both(begun, step.value);
      }
      const bytes = step.done ? encoder.end() : encoder.push(toPcm16(step.value.samples));
      if (bytes.length > 0) {
        yield { bytes: head.length > 0 ? joinBytes([head, bytes]) : bytes, sampleCount, ...begun };
        head = NONE;
        sampleCount = 0;
        begun = {};
      }
      if (step.done) return { ...step.value, finishedHead: encoder.finishedHead() };
    }
  } finally {
    encoder.free();
    // Not awaited: a model that hangs must not block its listener.
    if (!isOver) speech.return(NO_REPORT).catch(() => {});
  }
}

function both(before: SpeechEvents, { words, mouth }: SpeechEvents): SpeechEvents {
  const { phonemes, visemes } = before.mouth ?? STILL;
  return {
    ...(words === undefined ? {} : { words: [...(before.words ?? []), ...words] }),
    ...(mouth && {
      mouth: { phonemes: [...phonemes, ...mouth.phonemes], visemes: [...visemes, ...mouth.visemes] },
    }),
  };
}

const STILL: Mouth = { phonemes: [], visemes: [] };
const NONE = new Uint8Array(0);
const NO_REPORT: SpeechReport = { stop: "length", spoken: "" };

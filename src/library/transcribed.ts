import { AudioFormatError } from "../audio/audio-format-error.ts";
import { openSound } from "../audio/recordings/recording-sound.ts";
import type { Recogniser } from "../model/recogniser.ts";
import { readRecording } from "../server/read-recording.ts";
import { AntiphonError, type Transcript } from "./types.ts";

const MAX_S = 4 * 3_600;

/** What is said in a recording: a file's path, or its bytes. */
export async function transcribed(
  recording: string | Uint8Array,
  recogniser: Recogniser | null,
  { language, words }: { readonly language: string | undefined; readonly words: boolean },
  signal: AbortSignal,
): Promise<Transcript> {
  if (recogniser === null) {
    throw new AntiphonError(
      "The setting recogniser.kind is none, so nothing can be transcribed: set it to embedded or endpoint.",
      "settings",
    );
  }
  const sound = typeof recording === "string" ? await readRecording(recording, signal) : soundOf(recording);
  const asked = {
    task: "transcribe",
    language: language ?? null,
    wantsWords: words,
    prompt: null,
    draft: null,
  } as const;
  const heard = await recogniser.recognise(sound, asked, signal);
  return {
    text: heard.text,
    language: heard.language,
    duration: heard.heardS,
    segments: heard.segments.map(({ startS: start, endS: end, text, words: timed }) => ({
      start,
      end,
      text,
      ...(!timed || !words
        ? {}
        : { words: timed.map((word) => ({ start: word.startS, end: word.endS, text: word.text })) }),
    })),
  };
}

function soundOf(bytes: Uint8Array) {
  try {
    return openSound(Buffer.from(bytes), MAX_S);
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    const remedy = error.remedy === null ? "" : `: ${error.remedy}`;
    throw new AntiphonError(
      `The recording cannot be heard: ${error.problem}${remedy}.`,
      "invalid_request_error",
      "recording",
    );
  }
}

import { toSrt, toVtt } from "../captions/captions.ts";
import type { HeardSegment, HeardWord, Transcript } from "../model/recogniser.ts";
import { captionsOf, roundedToMs } from "../serving/transcript-formats.ts";

/** What `transcribe --json` prints. Times are in seconds from the recording's beginning, in whole milliseconds. */
export interface PrintedTranscript {
  readonly text: string;
  /** ISO 639-1, and from 0 to 1 how sure that is; `null` where it is unknown. */
  readonly language: string | null;
  readonly language_probability: number | null;
  /** How sure it is that somebody speaks at all, 0 to 1. */
  readonly speech_probability: number | null;
  /** Mean natural logarithm of the tokens' probabilities. */
  readonly mean_log_probability: number | null;
  /** Who heard it. */
  readonly recogniser: string;
  readonly duration_s: number;
  /** How much of it was listened to. */
  readonly heard_s: number;
  readonly segments: readonly {
    readonly start_s: number;
    readonly end_s: number;
    readonly text: string;
    readonly mean_log_probability: number | null;
    /** Where they were asked for. */
    readonly words?: readonly {
      readonly start_s: number;
      readonly end_s: number;
      readonly text: string;
      readonly probability: number;
    }[];
  }[];
}

/** The text on one line; nothing where nobody speaks. */
export function printedText({ text }: Transcript): string {
  return text === "" ? "" : `${text}\n`;
}

/** A caption for each segment, or for each word. */
export function printedCaptions({ segments }: Transcript, form: "srt" | "vtt", hasWords: boolean): string {
  const captions = captionsOf(hasWords ? segments.flatMap(wordsOf) : segments);
  return form === "srt" ? toSrt(captions) : toVtt(captions);
}

export function printedJson(
  transcript: Transcript,
  { name, durationS }: { readonly name: string; readonly durationS: number },
): string {
  const printed: PrintedTranscript = {
    text: transcript.text,
    language: transcript.language,
    language_probability: transcript.languageProbability,
    speech_probability: transcript.speechProbability,
    mean_log_probability: transcript.meanLogProbability,
    recogniser: name,
    duration_s: roundedToMs(durationS),
    heard_s: roundedToMs(transcript.heardS),
    segments: transcript.segments.map(({ startS, endS, text, meanLogProbability, words }) => ({
      start_s: roundedToMs(startS),
      end_s: roundedToMs(endS),
      text,
      mean_log_probability: meanLogProbability,
      ...(words !== null && {
        words: words.map((word) => ({
          start_s: roundedToMs(word.startS),
          end_s: roundedToMs(word.endS),
          text: word.text,
          probability: word.probability,
        })),
      }),
    })),
  };
  return `${JSON.stringify(printed)}\n`;
}

/** A segment without times of its words stays whole. */
function wordsOf(segment: HeardSegment): readonly (HeardSegment | HeardWord)[] {
  return segment.words === null || segment.words.length === 0 ? [segment] : segment.words;
}

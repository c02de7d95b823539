import { toSrt, toVtt } from "../../core/captions/captions.ts";
import type { TranscribedWord, Transcript, TranscriptSegment } from "../../core/recogniser.ts";
import { captionsOf, toldTranscript } from "../../serving/transcribe/transcript-formats.ts";

/** The text on one line; nothing where nobody speaks. */
export function printedText({ text }: Pick<Transcript, "text">): string {
  return text === "" ? "" : `${text}\n`;
}

/** A caption for each segment, or for each word. */
export function printedCaptions({ segments }: Transcript, form: "srt" | "vtt", hasWords: boolean): string {
  const captions = captionsOf(hasWords ? segments.flatMap(wordsOf) : segments);
  return form === "srt" ? toSrt(captions) : toVtt(captions);
}

/** What `transcribe --json` prints. */
export function printedJson(transcript: Transcript, recogniser: string): string {
  return `${JSON.stringify(toldTranscript(transcript, recogniser))}\n`;
}

/** A segment without times of its words stays whole. */
function wordsOf(segment: TranscriptSegment): readonly (TranscriptSegment | TranscribedWord)[] {
  return segment.words === null || segment.words.length === 0 ? [segment] : segment.words;
}

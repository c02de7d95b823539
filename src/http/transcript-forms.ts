import { toSrt, toVtt } from "../captions/captions.ts";
import type { TranscriptFormat } from "../contract/audio-transcriptions.ts";
import type { TranscriptionAsked } from "../contract/transcription-form.ts";
import {
  captionsOf,
  plainTranscription,
  verboseTranscription,
  verboseTranslation,
} from "../serving/transcript-formats.ts";
import type { Heard } from "../serving/transcriptions.ts";

/** The media type of each format. */
export const TRANSCRIPT_MEDIA_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: "application/json",
  text: "text/plain",
  srt: "application/x-subrip",
  verbose_json: "application/json",
  vtt: "text/vtt",
};

/** A transcript in the format that was asked for. */
export function toldAs(
  { task, format, granularities }: Pick<TranscriptionAsked, "task" | "format" | "granularities">,
  heard: Heard,
): string {
  const { text, segments } = heard.transcript;
  switch (format) {
    case "json":
      return JSON.stringify(plainTranscription(heard));
    case "verbose_json":
      return JSON.stringify(
        task === "translate" ? verboseTranslation(heard) : verboseTranscription(heard, granularities),
      );
    case "text":
      return `${text}\n`;
    case "srt":
      return toSrt(captionsOf(segments));
    case "vtt":
      return toVtt(captionsOf(segments));
  }
}

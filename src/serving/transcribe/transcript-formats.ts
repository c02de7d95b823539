import { deflateSync } from "node:zlib";
import { FRAME_S } from "../../audio/format.ts";
import type {
  Granularity,
  Transcription,
  TranscriptionSegment,
  TranscriptionWord,
  TranscriptTextDone,
  VerboseTranscription,
  VerboseTranslation,
} from "../../contract/audio-transcriptions.ts";
import { countChars } from "../../contract/limits.ts";
import { languageName } from "../../core/languages.ts";
import type { Transcript, TranscriptSegment } from "../../core/recogniser.ts";
import type { TranscribedRecording } from "./transcriptions.ts";

export function plainTranscription(heard: TranscribedRecording): Transcription {
  const { transcript } = heard;
  return {
    text: transcript.text,
    languages: languagesOf(transcript),
    usage: durationUsage(heard),
    ...heardSeconds(heard),
  };
}

/** Formats `verbose_json`, with the requested times. */
export function verboseTranscription(
  heard: TranscribedRecording,
  granularities: ReadonlySet<Granularity>,
): VerboseTranscription {
  const { transcript, durationS } = heard;
  return {
    task: "transcribe",
    language: languageName(transcript.language),
    languages: languagesOf(transcript),
    duration: roundedToMs(durationS),
    text: transcript.text,
    ...(granularities.has("segment") && { segments: segmentsOf(transcript) }),
    ...(granularities.has("word") && { words: wordsOf(transcript) }),
    usage: durationUsage(heard),
    ...heardSeconds(heard),
  };
}

/** Formats `verbose_json` of a translation, whose text is English. */
export function verboseTranslation(heard: TranscribedRecording): VerboseTranslation {
  const { transcript, durationS } = heard;
  return {
    task: "translate",
    language: "english",
    languages: languagesOf(transcript),
    duration: roundedToMs(durationS),
    text: transcript.text,
    segments: segmentsOf(transcript),
    usage: durationUsage(heard),
    ...heardSeconds(heard),
  };
}

/** Formats the last event of a streamed transcript. */
export function doneTranscription(heard: TranscribedRecording): TranscriptTextDone {
  const { transcript, usage } = heard;
  const audioTokens = Math.ceil(usage.input_audio_seconds / FRAME_S);
  const outputTokens = countChars(transcript.text);
  const inputTokens = audioTokens + usage.input_chars;
  return {
    type: "transcript.text.done",
    text: transcript.text,
    usage: {
      type: "tokens",
      input_tokens: inputTokens,
      input_token_details: { audio_tokens: audioTokens, text_tokens: usage.input_chars },
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      ...usage,
    },
    ...heardSeconds(heard),
  };
}

/**
 * Formats a transcript as `transcribe --json` and the library return it. Times are seconds from the recording's
 * beginning, in whole milliseconds.
 */
export function toTranscriptJson(transcript: Transcript, recogniser: string) {
  const heardS = roundedToMs(transcript.transcribedS);
  return {
    text: transcript.text,
    language: transcript.language,
    language_probability: transcript.languageProbability,
    speech_probability: transcript.speechProbability,
    mean_log_probability: transcript.meanLogProbability,
    recogniser,
    duration_s: heardS,
    heard_s: heardS,
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
}

/** Returns the text of each segment; joined, they are the transcript's text. */
export function segmentTexts({ text, segments }: Transcript): string[] {
  const pieces = segments.map((segment, index) => (index === 0 ? segment.text : ` ${segment.text}`));
  if (pieces.join("") === text) return pieces;
  return text === "" ? [] : [text];
}

export function toCaptions(
  heard: readonly { readonly startS: number; readonly endS: number; readonly text: string }[],
): { start: number; end: number; text: string }[] {
  return heard.map(({ startS, endS, text }) => ({ start: startS, end: endS, text }));
}

function languagesOf({ language }: Transcript): { code: string }[] {
  return language === null ? [] : [{ code: language }];
}

function segmentsOf({ segments, speechProbability }: Transcript): TranscriptionSegment[] {
  return segments.map(({ startS, endS, text, meanLogProbability }, id) => ({
    id,
    seek: Math.floor(startS * 100),
    start: roundedToMs(startS),
    end: roundedToMs(endS),
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: meanLogProbability ?? 0,
    compression_ratio: compressionRatio(text),
    no_speech_prob: speechProbability === null ? 0 : 1 - speechProbability,
  }));
}

function wordsOf({ segments }: Transcript): TranscriptionWord[] {
  return segments.flatMap(({ words }: TranscriptSegment) =>
    (words ?? []).map(({ text, startS, endS }) => ({
      word: text,
      start: roundedToMs(startS),
      end: roundedToMs(endS),
    })),
  );
}

/** Whisper's measure: how many times shorter zlib makes the text. Endless repetition is far above 2. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}

function durationUsage({ durationS, usage }: TranscribedRecording): Transcription["usage"] {
  return { type: "duration", seconds: roundedToMs(durationS), ...usage };
}

/** Rounding may hide a sample or two. */
const SLACK_S = 0.1;

function heardSeconds({ transcript, durationS }: TranscribedRecording): { heard_seconds?: number } {
  return transcript.transcribedS < durationS - SLACK_S
    ? { heard_seconds: roundedToMs(transcript.transcribedS) }
    : {};
}

export function roundedToMs(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

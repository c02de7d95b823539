import { deflateSync } from "node:zlib";
import { FRAME_S } from "../audio/format.ts";
import type {
  Granularity,
  Transcription,
  TranscriptionSegment,
  TranscriptionWord,
  TranscriptTextDone,
  VerboseTranscription,
} from "../contract/audio-transcriptions.ts";
import type { VerboseTranslation } from "../contract/audio-translations.ts";
import { countChars } from "../contract/limits.ts";
import { languageName } from "../model/languages.ts";
import type { HeardSegment, Transcript } from "../model/recogniser.ts";
import type { TranscribedRecording } from "./transcriptions.ts";

/** `response_format` `json`. */
export function plainTranscription(heard: TranscribedRecording): Transcription {
  const { transcript } = heard;
  return {
    text: transcript.text,
    languages: languagesOf(transcript),
    usage: durationUsage(heard),
    ...heardSeconds(heard),
  };
}

/** `response_format` `verbose_json`, with times of what was asked for. */
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

/** The same of a translation, whose text is in English whatever was spoken. */
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

/** The last event of a streamed transcript. */
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

/** The pieces of a transcript in order, a segment each, which joined are its text. */
export function piecesOf({ text, segments }: Transcript): string[] {
  const pieces = segments.map((segment, index) => (index === 0 ? segment.text : ` ${segment.text}`));
  if (pieces.join("") === text) return pieces;
  return text === "" ? [] : [text];
}

/** What is heard from when to when, as captions have it. */
export function captionsOf(
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
  return segments.flatMap(({ words }: HeardSegment) =>
    (words ?? []).map(({ text, startS, endS }) => ({
      word: text,
      start: roundedToMs(startS),
      end: roundedToMs(endS),
    })),
  );
}

/** As Whisper has it: how many times shorter zlib makes the text. What is repeated without end is far above 2. */
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
  return transcript.heardS < durationS - SLACK_S ? { heard_seconds: roundedToMs(transcript.heardS) } : {};
}

/** Seconds, to the nearest whole millisecond. */
export function roundedToMs(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transcript } from "../../../src/core/recogniser.ts";
import {
  doneTranscription,
  plainTranscription,
  segmentTexts,
  verboseTranscription,
} from "../../../src/serving/transcribe/transcript-formats.ts";
import type { TranscribedRecording } from "../../../src/serving/transcribe/transcriptions.ts";
import { segmentOf } from "../../recognition/scripted-recogniser.ts";

const ALL = new Set(["segment", "word"] as const);

function recordingOf(transcript: Partial<Transcript> = {}): TranscribedRecording {
  const segments = transcript.segments ?? [segmentOf("One two.", 0), segmentOf("Three.", 1.23456)];
  return {
    durationS: 2.00006,
    usage: { input_chars: 3, input_audio_seconds: 2.00006, output_audio_seconds: 0 },
    transcript: {
      text: segments.map(({ text }) => text).join(" "),
      language: "haw",
      languageProbability: null,
      speechProbability: null,
      meanLogProbability: null,
      segments,
      transcribedS: 2,
      ...transcript,
    },
  };
}

test('unknown values are 0, "unknown" or empty', () => {
  const segment = { ...segmentOf("One.", 0), words: null, meanLogProbability: null };
  const { transcript, ...rest } = recordingOf({ segments: [segment], language: null });
  const result = verboseTranscription({ transcript, ...rest }, ALL);
  assert.equal(result.language, "unknown");
  assert.equal(result.segments?.[0]?.avg_logprob, 0);
  assert.equal(result.segments?.[0]?.no_speech_prob, 0);
  assert.deepEqual(result.segments?.[0]?.tokens, []);
  assert.deepEqual(result.words, []);
});

test("languages have English names, and times are whole milliseconds", () => {
  const result = verboseTranscription(recordingOf(), ALL);
  assert.equal(result.language, "hawaiian");
  assert.equal(result.duration, 2);
  assert.equal(result.segments?.[1]?.start, 1.235);
  assert.equal(result.segments?.[1]?.seek, 123);
  assert.equal(verboseTranscription(recordingOf({ language: "xx" }), ALL).language, "xx");
});

test("endless repetition has a high compression ratio", () => {
  const segments = [segmentOf("Thank you. ".repeat(40).trim(), 0), segmentOf("A jolly fox runs by.", 1)];
  const [repeated, plain] = verboseTranscription(recordingOf({ segments }), ALL).segments!;
  assert.ok(repeated!.compression_ratio > 2.4 && plain!.compression_ratio < 1.2);
});

test("silence is an empty text without segments, words or deltas", () => {
  const silent = recordingOf({ segments: [], text: "" });
  assert.equal(plainTranscription(silent).text, "");
  assert.deepEqual(verboseTranscription(silent, ALL).segments, []);
  assert.deepEqual(verboseTranscription(silent, ALL).words, []);
  assert.deepEqual(segmentTexts(silent.transcript), []);
  assert.equal(doneTranscription(silent).usage.output_tokens, 0);
});

test("joined deltas equal the text, even if the segments do not", () => {
  const { transcript } = recordingOf();
  assert.deepEqual(segmentTexts(transcript), ["One two.", " Three."]);
  assert.deepEqual(segmentTexts({ ...transcript, text: "One two, three." }), ["One two, three."]);
});

test("a partly transcribed recording reports its transcribed seconds", () => {
  assert.ok(!("heard_seconds" in plainTranscription(recordingOf())));
  const cut = recordingOf({ transcribedS: 1.5 });
  assert.equal(plainTranscription(cut).heard_seconds, 1.5);
  assert.equal(verboseTranscription(cut, ALL).heard_seconds, 1.5);
  assert.equal(doneTranscription(cut).heard_seconds, 1.5);
});

test("tokens count 80 ms frames and characters", () => {
  assert.deepEqual(doneTranscription(recordingOf()).usage, {
    type: "tokens",
    input_tokens: 29,
    input_token_details: { audio_tokens: 26, text_tokens: 3 },
    output_tokens: 15,
    total_tokens: 44,
    input_chars: 3,
    input_audio_seconds: 2.00006,
    output_audio_seconds: 0,
  });
});

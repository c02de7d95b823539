import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transcript } from "../../../src/core/recogniser.ts";
import { joinTranscripts, TranscriptCache } from "../../../src/serving/transcribe/clip-transcriber.ts";

test("TranscriptCache keeps the most recently used clips", () => {
  const clips = new TranscriptCache(2);
  clips.keep("a", { transcript: heard("A."), isWhole: true });
  clips.keep("b", { transcript: heard("B."), isWhole: true });
  assert.equal(clips.get("a")?.transcript.text, "A.");
  clips.keep("c", { transcript: heard("C."), isWhole: true });
  assert.deepEqual(
    ["a", "b", "c"].map((digest) => clips.get(digest)?.transcript.text),
    ["A.", undefined, "C."],
  );
});

test("TranscriptCache replaces a shorter transcript, never a complete one", () => {
  const clips = new TranscriptCache(2);
  const known = () => clips.get("a")?.transcript.text;
  clips.keep("a", { transcript: heard("One. Two.", 60), isWhole: false });
  clips.keep("a", { transcript: heard("One.", 30), isWhole: false });
  assert.equal(known(), "One. Two.");
  clips.keep("a", { transcript: heard("One. Two. Three.", 90), isWhole: false });
  assert.equal(known(), "One. Two. Three.");
  clips.keep("a", { transcript: heard("All.", 80), isWhole: true });
  clips.keep("a", { transcript: heard("One. Two. Three. Four.", 120), isWhole: false });
  assert.equal(known(), "All.");
});

test("joinTranscripts takes the language of the first part with speech", () => {
  const silence = { ...heard("", 30), language: "cy", languageProbability: 0.2, meanLogProbability: null };
  const words = { ...heard("Guten Tag.", 60), language: "de", speechProbability: null };
  const all = joinTranscripts(silence, words);
  assert.deepEqual(
    [
      all.text,
      all.language,
      all.languageProbability,
      all.speechProbability,
      all.meanLogProbability,
      all.transcribedS,
    ],
    ["Guten Tag.", "de", 0.9, 0.8, -0.5, 60],
  );
  const more = joinTranscripts(all, { ...heard("Tschüss mal.", 90), meanLogProbability: -1 });
  assert.deepEqual([more.text, more.language, more.transcribedS], ["Guten Tag. Tschüss mal.", "de", 90]);
  assert.ok(more.meanLogProbability! < -0.5 && more.meanLogProbability! > -1);
  assert.equal(joinTranscripts(null, words), words);
});

function heard(text: string, heardS = 1): Transcript {
  return {
    text,
    language: "en",
    languageProbability: 0.9,
    speechProbability: 0.8,
    meanLogProbability: -0.5,
    segments: [],
    transcribedS: heardS,
  };
}

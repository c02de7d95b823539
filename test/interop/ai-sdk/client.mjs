// Vercel's AI SDK: speech and transcripts as it asks for them, by its defaults and by its options.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import {
  APICallError,
  experimental_generateSpeech as generateSpeech,
  experimental_transcribe as transcribe,
} from "ai";
import { KEY, passed, RECORDING, speech, TEXT, transcript, URL_V1 } from "./report.mjs";

const openai = createOpenAI({ baseURL: URL_V1, apiKey: KEY });
const say = (options = {}) =>
  generateSpeech({ model: openai.speech("tts-1"), text: TEXT, maxRetries: 0, ...options });

const { audio, warnings } = await say();
assert.deepEqual(warnings, []);
assert.deepEqual([audio.mediaType, audio.format], ["audio/mpeg", "mp3"], "as the SDK knows it by its bytes");
speech("speech by its defaults", audio.uint8Array, { voice: "alloy", format: "mp3" });
for (const outputFormat of ["mp3", "opus", "flac", "wav", "pcm"]) {
  const model = openai.speech("gpt-4o-mini-tts");
  const said = await say({ model, voice: "onyx", outputFormat, instructions: "In your own way.", speed: 1 });
  speech(outputFormat, said.audio.uint8Array, { voice: "onyx", format: outputFormat });
}
await assert.rejects(say({ outputFormat: "aac" }), (error) => {
  assert.ok(APICallError.isInstance(error), `${error}`);
  assert.match(error.message, /mp3, opus, flac, wav, pcm/);
  return error.statusCode === 400 && !error.isRetryable;
});
passed("AAC is refused with what there is");

const recording = readFileSync(RECORDING);
for (const model of ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-transcribe"]) {
  for (const [how, openaiOptions] of [
    ["by its defaults", undefined],
    ["with a language and a prompt", { language: "en", prompt: "A kettle." }],
  ]) {
    await hear(model, how, openaiOptions);
  }
}
await hear("gpt-transcribe", "with languages and keywords", {
  languages: ["en", "de"],
  keywords: ["kettle"],
});

async function hear(model, how, openaiOptions) {
  const heard = await transcribe({
    model: openai.transcription(model),
    audio: recording,
    maxRetries: 0,
    ...(openaiOptions && { providerOptions: { openai: openaiOptions } }),
  });
  assert.ok(heard.durationInSeconds > 1, `${heard.durationInSeconds} s`);
  transcript(`${model} ${how}`, heard.text);
}

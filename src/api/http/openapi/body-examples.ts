import { encodeWav } from "../../../audio/encode-wav.ts";
import { base64Of } from "../paced-response.ts";
import type { Json } from "./operations.ts";

const EXAM = [
  { speaker: "0", text: "I passed the exam!" },
  { speaker: "1", text: "That is wonderful. I knew you would." },
];

/** Example bodies of each operation that takes one, ready to paste. */
export const BODY_EXAMPLES = {
  tts: {
    shortest: example("Text only", { text: "Hello there, how are you today?" }),
    deterministic: example("The other speaker, and the same bytes every time", {
      text: "The library opens at nine.",
      speaker: "1",
      model: "svc-beta-v0.3",
      params: { temperature: 0, max_new_tokens: 256 },
    }),
    voice: example("A voice by its name", { text: "The library opens at nine.", voice: "bruno" }),
    words: example("Custom pronunciations, for the whole request and in one place", {
      text: "[Siân](/ʃˈɑn/) moved the SQL server to Kubernetes.",
      lexicon: { SQL: "sequel", kubernetes: "/kˌubəɹnˈɛtiz/" },
    }),
    marks: example("SSML: a pause, a mark whose time is reported, and slower words", {
      text: '<speak>Three, <break time="1s"/> two. <mark name="go"/><prosody rate="80%">Here we go.</prosody></speak>',
    }),
  },
  converse: {
    authored: example("Authored: the reply is written, then spoken", {
      conversation: [{ speaker: "0", text: "What shall we cook tonight?" }, { speaker: "1" }],
    }),
    instructed: example("Authored by a language model, with instructions (small talk follows none)", {
      conversation: [{ speaker: "0", text: "Hello, have you got a table for two?" }, { speaker: "1" }],
      instructions: "You are Ann, at the desk of the Green Fork. There is a table at eight, and none before.",
    }),
    contextual: example("Contextual: the given text, in the context of the earlier turns", {
      conversation: EXAM,
      params: { temperature: 0 },
    }),
    voices: example("Whose voices the speakers have", {
      conversation: EXAM,
      voices: { "0": "bruno", "1": "maya" },
    }),
    voice: example("A voice to follow: replace this short tone with a recording of a few seconds", {
      conversation: [
        { speaker: "0", text: "This is how I sound.", audio_wav_b64: shortTone() },
        { speaker: "0", text: "And this is how I go on." },
      ],
    }),
  },
  speech: {
    file: example("An MP3 file", {
      model: "tts-1",
      input: "Hello there, how are you today?",
      voice: "alloy",
    }),
    lossless: example("A FLAC file", {
      model: "tts-1",
      input: "Nothing of this is lost.",
      voice: "1",
      response_format: "flac",
    }),
    samples: example("Raw samples, streamed, a little faster", {
      model: "tts-1",
      input: "The next train leaves at ten.",
      response_format: "pcm",
      speed: 1.1,
    }),
    manner: example("Cheerful and a little slower", {
      model: "tts-1",
      input: "You passed the exam!",
      instructions: "Cheerful, and a little slower.",
    }),
    events: example("Streamed events", {
      model: "svc-beta-v0.3",
      input: "One moment, please.",
      voice: { id: "1" },
      stream_format: "sse",
    }),
  },
  dialogue: {
    script: example("A script, as an MP3 file", {
      script: "Anna: Did you hear that?\n\nBen (calm): It was only the wind.",
      voices: { Anna: "1" },
    }),
    lines: example("Lines, streamed as events", {
      lines: [
        { voice: "0", text: "Knock, knock." },
        { voice: "1", text: "Who's there?", instructions: "excited" },
      ],
      stream_format: "sse",
    }),
  },
  telephony: {
    vapi: example("As Vapi sends it", {
      message: { type: "voice-request", text: "Thank you for calling.", sampleRate: 16_000 },
    }),
    jambonz: example("As jambonz sends it", {
      language: "en-US",
      voice: "onyx",
      type: "text",
      text: "Thank you for calling.",
    }),
  },
  transcription: {
    text: example("Transcript: replace this short tone with a recording", {
      file: shortTone(),
      model: "whisper-1",
    }),
    times: example("With segment and word times", {
      file: shortTone(),
      model: "whisper-1",
      language: "en",
      response_format: "verbose_json",
      "timestamp_granularities[]": ["segment", "word"],
    }),
  },
  clientSecret: {
    shortest: example("For ten minutes", {}),
    configured: example("For an hour, with the session's settings", {
      expires_after: { anchor: "created_at", seconds: 3_600 },
      session: { type: "realtime", instructions: "Be brief.", audio: { output: { voice: "alloy" } } },
    }),
  },
  newVoice: {
    voice: example("A voice: replace this short tone with a recording of 5 to 12 s", {
      name: "Anna",
      audio_sample: shortTone(),
      consent: "Anna agreed to this use on 24 November 2026.",
      ref_text: "What is said in it.",
    }),
  },
  translation: {
    text: example("English translation: replace this short tone with a recording", {
      file: shortTone(),
      model: "whisper-1",
    }),
    times: example("With segment times, for speech that is known to be German", {
      file: shortTone(),
      model: "whisper-1",
      response_format: "verbose_json",
      language: "de",
    }),
  },
} as const satisfies Readonly<Record<string, Json>>;

/** Returns an example as OpenAPI has it. */
function example(summary: string, value: Json): Json {
  return { summary, value };
}

/** Returns 20 ms of 400 Hz at 8 kHz, as a WAV file in base64: short enough to skim. */
function shortTone(): string {
  const samples = Int16Array.from({ length: 160 }, (_, at) =>
    Math.round(8_000 * Math.sin((Math.PI * at) / 10)),
  );
  return base64Of(encodeWav(samples, 8_000));
}

import { encodeWav } from "../../../audio/encode-wav.ts";
import { base64Of } from "../paced-response.ts";
import type { Json } from "./operations.ts";

/** Example bodies of each operation that takes one, ready to paste. */
export const BODY_EXAMPLES = {
  tts: {
    shortest: { summary: "Text only", value: { text: "Hello there, how are you today?" } },
    deterministic: {
      summary: "The other speaker, and the same bytes every time",
      value: {
        text: "The library opens at nine.",
        speaker: "1",
        model: "svc-beta-v0.3",
        params: { temperature: 0, max_new_tokens: 256 },
      },
    },
    voice: {
      summary: "A voice by its name",
      value: { text: "The library opens at nine.", voice: "bruno" },
    },
    words: {
      summary: "Custom pronunciations, for the whole request and in one place",
      value: {
        text: "[Siân](/ʃˈɑn/) moved the SQL server to Kubernetes.",
        lexicon: { SQL: "sequel", kubernetes: "/kˌubəɹnˈɛtiz/" },
      },
    },
    marks: {
      summary: "SSML: a pause, a mark whose time is reported, and slower words",
      value: {
        text: '<speak>Three, <break time="1s"/> two. <mark name="go"/><prosody rate="80%">Here we go.</prosody></speak>',
      },
    },
  },
  converse: {
    authored: {
      summary: "Authored: the reply is written, then spoken",
      value: { conversation: [{ speaker: "0", text: "What shall we cook tonight?" }, { speaker: "1" }] },
    },
    instructed: {
      summary: "Authored by a language model, with instructions (small talk follows none)",
      value: {
        conversation: [{ speaker: "0", text: "Hello, have you got a table for two?" }, { speaker: "1" }],
        instructions:
          "You are Ann, at the desk of the Green Fork. There is a table at eight, and none before.",
      },
    },
    contextual: {
      summary: "Contextual: the given text, in the context of the earlier turns",
      value: {
        conversation: [
          { speaker: "0", text: "I passed the exam!" },
          { speaker: "1", text: "That is wonderful. I knew you would." },
        ],
        params: { temperature: 0 },
      },
    },
    voices: {
      summary: "Whose voices the speakers have",
      value: {
        conversation: [
          { speaker: "0", text: "I passed the exam!" },
          { speaker: "1", text: "That is wonderful. I knew you would." },
        ],
        voices: { "0": "bruno", "1": "maya" },
      },
    },
    voice: {
      summary: "A voice to follow: replace this short tone with a recording of a few seconds",
      value: {
        conversation: [
          { speaker: "0", text: "This is how I sound.", audio_wav_b64: shortTone() },
          { speaker: "0", text: "And this is how I go on." },
        ],
      },
    },
  },
  speech: {
    file: {
      summary: "An MP3 file",
      value: { model: "tts-1", input: "Hello there, how are you today?", voice: "alloy" },
    },
    lossless: {
      summary: "A FLAC file",
      value: { model: "tts-1", input: "Nothing of this is lost.", voice: "1", response_format: "flac" },
    },
    samples: {
      summary: "Raw samples, streamed, a little faster",
      value: { model: "tts-1", input: "The next train leaves at ten.", response_format: "pcm", speed: 1.1 },
    },
    manner: {
      summary: "Cheerful and a little slower",
      value: {
        model: "tts-1",
        input: "You passed the exam!",
        instructions: "Cheerful, and a little slower.",
      },
    },
    events: {
      summary: "Streamed events",
      value: {
        model: "svc-beta-v0.3",
        input: "One moment, please.",
        voice: { id: "1" },
        stream_format: "sse",
      },
    },
  },
  dialogue: {
    script: {
      summary: "A script, as an MP3 file",
      value: {
        script: "Anna: Did you hear that?\n\nBen (calm): It was only the wind.",
        voices: { Anna: "1" },
      },
    },
    lines: {
      summary: "Lines, streamed as events",
      value: {
        lines: [
          { voice: "0", text: "Knock, knock." },
          { voice: "1", text: "Who's there?", instructions: "excited" },
        ],
        stream_format: "sse",
      },
    },
  },
  telephony: {
    vapi: {
      summary: "As Vapi sends it",
      value: { message: { type: "voice-request", text: "Thank you for calling.", sampleRate: 16_000 } },
    },
    jambonz: {
      summary: "As jambonz sends it",
      value: { language: "en-US", voice: "onyx", type: "text", text: "Thank you for calling." },
    },
  },
  transcription: {
    text: {
      summary: "Transcript: replace this short tone with a recording",
      value: { file: shortTone(), model: "whisper-1" },
    },
    times: {
      summary: "With segment and word times",
      value: {
        file: shortTone(),
        model: "whisper-1",
        language: "en",
        response_format: "verbose_json",
        "timestamp_granularities[]": ["segment", "word"],
      },
    },
  },
  clientSecret: {
    shortest: { summary: "For ten minutes", value: {} },
    configured: {
      summary: "For an hour, with the session's settings",
      value: {
        expires_after: { anchor: "created_at", seconds: 3_600 },
        session: { type: "realtime", instructions: "Be brief.", audio: { output: { voice: "alloy" } } },
      },
    },
  },
  newVoice: {
    voice: {
      summary: "A voice: replace this short tone with a recording of 5 to 12 s",
      value: {
        name: "Anna",
        audio_sample: shortTone(),
        consent: "Anna agreed to this use on 24 November 2026.",
        ref_text: "What is said in it.",
      },
    },
  },
  translation: {
    text: {
      summary: "English translation: replace this short tone with a recording",
      value: { file: shortTone(), model: "whisper-1" },
    },
    times: {
      summary: "With segment times, for speech that is known to be German",
      value: { file: shortTone(), model: "whisper-1", response_format: "verbose_json", language: "de" },
    },
  },
} as const satisfies Readonly<Record<string, Json>>;

/** Returns 20 ms of 400 Hz at 8 kHz, as a WAV file in base64: short enough to skim. */
function shortTone(): string {
  const samples = Int16Array.from({ length: 160 }, (_, at) =>
    Math.round(8_000 * Math.sin((Math.PI * at) / 10)),
  );
  return base64Of(encodeWav(samples, 8_000));
}

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { OpenAI } from "openai";
import { OPENAI_VOICES } from "../../../src/contract/voices.ts";
import { spokenText, type TextPiece } from "../../../src/core/marked-text.ts";
import type { Script } from "../../../src/core/script.ts";
import { EMBEDDED_VOICES } from "../../../src/models/public-models.ts";
import { decode } from "../../audio/encode/decoders.ts";
import { createToneModel } from "../../core/tone-model.ts";
import { ScriptedRecogniser, SEGMENTS } from "../../recognition/scripted-recogniser.ts";
import { WAV } from "./forms.ts";
import { startTestServer } from "./start.ts";
import type { Reply } from "./wire.ts";

// Requests as these programs' sources and documentation have them, and what they read in the reply.

const scripts: Script[] = [];
let lastText = "";
const load = async () => {
  const tone = await createToneModel();
  const speak: typeof tone.speak = (script, signal) => {
    scripts.push(script);
    return tone.speak({ ...script, text: recorded(script.text) }, signal);
  };
  return { speak, close: () => tone.close() };
};
const recogniser = new ScriptedRecogniser();
const server = await startTestServer({ checkpoints: [{ name: "heart", memoryBytes: 1, load }], recogniser });
after(() => server.stop());

const bytesOf = async (reply: Reply) => Buffer.from(await reply.arrayBuffer());
const TRANSCRIPT = SEGMENTS.map(({ text }) => text).join(" ");
const SPEECH = "/v1/audio/speech";
const isMp3 = (file: Buffer) => file[0] === 0xff && (file[1]! & 0xe0) === 0xe0;
/** The samples of a text at 24 kHz. */
const samplesOf = (text: string) => text.length * 1_440;
const postSpeech = async (body: object, headers?: Record<string, string>) => {
  const reply = await server.post(SPEECH, body, headers);
  assert.equal(reply.status, 200, JSON.stringify(body));
  return reply;
};

describe("OpenAI's package for Node", () => {
  const client = (apiKey = server.key) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });

  test("lists models, retrieves one, and throws its typed errors", async () => {
    const { models, audio } = client();
    const { data, object } = await models.list();
    assert.deepEqual([object, data[0]?.object, data[0]?.owned_by], ["list", "model", "antiphon"]);
    assert.equal((await models.retrieve(data[1]!.id)).id, data[1]!.id);
    const errorFrom = async (request: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
      const error: unknown = await request.then(
        () => null,
        (reason) => reason,
      );
      assert.ok(error instanceof OpenAI.APIError, `${error}`);
      return error;
    };
    const unknown = await errorFrom(models.retrieve("gpt-9"));
    assert.ok(unknown instanceof OpenAI.NotFoundError);
    assert.deepEqual([unknown.code, unknown.param, unknown.type], ["model_not_found", "model", "not_found"]);
    const voice = await errorFrom(audio.speech.create({ model: "tts-1", voice: "bob", input: "Hi." }));
    assert.deepEqual([voice.status, voice.code, voice.param], [400, null, "voice"]);
    const key = await errorFrom(client("ant_unknown").models.list());
    assert.ok(key instanceof OpenAI.AuthenticationError);
  });

  test("speaks the smallest request", async () => {
    const reply = await client().audio.speech.create({ model: "tts-1", voice: "Nova", input: "—" });
    assert.ok(isMp3(Buffer.from(await reply.arrayBuffer())));
  });
});

describe("Open WebUI", () => {
  test("lists voices and models without a key", async () => {
    const { voices } = await (await server.get("/v1/audio/voices", {})).json();
    const choice = Object.fromEntries(voices.map(({ id, name }: { id: string; name: string }) => [id, name]));
    assert.equal(Object.keys(choice).length, OPENAI_VOICES.length + EMBEDDED_VOICES.length);
    assert.equal(choice.nova, "Nova");
    const { models } = await (await server.get("/v1/audio/models", {})).json();
    assert.equal(models[0].id, "svc-beta-v0.3");
    for (const voice of Object.keys(choice)) {
      await bytesOf(await postSpeech({ model: models[0].id, input: "Hi.", voice }));
    }
  });

  test("speaks every sentence of a reply, also those without words", async () => {
    const headers = { "X-OpenWebUI-User-Name": "Ann", "X-OpenWebUI-User-Role": "user" };
    for (const input of ["Sure! Here is the plan.", "🎉", "---", "1. Boil the kettle."]) {
      const reply = await postSpeech({ model: "tts-1", input, voice: "alloy" }, headers);
      assert.equal(reply.headers.get("content-type"), "audio/mpeg");
      assert.ok(isMp3(await bytesOf(reply)), input);
    }
  });

  test("transcribes a chunked recording with an empty model name", async () => {
    for (const model of ["", "whisper-1"]) {
      assert.equal(await transcript({ model, language: "en" }), TRANSCRIPT);
      assert.equal(recogniser.asked.at(-1)?.language, "en");
    }
  });
});

describe("LibreChat", () => {
  test("concatenates MP3 files into one", async () => {
    const texts = ["One way. Two ways.", "Three ways."];
    const files: Buffer[] = [];
    for (const input of texts) {
      const reply = await postSpeech({ input, model: "tts-1", voice: "alloy", backend: "any" });
      assert.equal(reply.headers.get("content-type"), "audio/mpeg");
      files.push(await bytesOf(reply));
    }
    const lengths = [];
    for (const file of [...files, Buffer.concat(files)])
      lengths.push((await decode("mp3", file)).samples.length);
    const [first, second, joined] = lengths;
    assert.equal(joined, first! + second!);
    assert.ok(joined! > samplesOf(texts.join("")));
  });

  test("transcribes a chunked recording without a model", async () => {
    assert.equal(await transcript({ language: "en" }, "audio/wav"), TRANSCRIPT);
  });
});

describe("Home Assistant's integration openai_tts", () => {
  const asked = { model: "tts-1", input: "The washing is done.", voice: "shimmer", speed: 1 };
  const say = (more: object) =>
    postSpeech({ ...asked, ...more }, { "User-Agent": "HomeAssistant-OpenAI-TTS" });

  test("takes an MP3 with the extra fields for other servers", async () => {
    const reply = await say({ response_format: "mp3", instructions: "Calmly.", speed: 0.5, extra: { a: 1 } });
    const { samples, rateHz } = await decode("mp3", await bytesOf(reply));
    assert.equal(rateHz, 24_000);
    assert.ok(samples.length > samplesOf(asked.input));
    assert.equal(scripts.at(-1)?.preset.rate, 0.5);
    assert.equal(reply.headers.get("x-antiphon-manner"), "calm");
  });

  test("takes streamed Opus", async () => {
    const reply = await say({ response_format: "opus" });
    assert.equal(reply.headers.get("content-type"), "audio/ogg; codecs=opus");
    assert.equal(reply.headers.get("content-length"), null);
    const { samples } = await decode("opus", await bytesOf(reply));
    assert.equal(samples.length, samplesOf(asked.input));
  });
});

describe("n8n", () => {
  const body = { model: "tts-1-hd", input: "A row was added.", voice: "fable", speed: 1.5 };

  test("takes each format that it offers except AAC", async () => {
    for (const format of ["mp3", "opus", "flac"] as const) {
      const file = await bytesOf(await postSpeech({ ...body, response_format: format }));
      assert.ok((await decode(format, file)).samples.length > samplesOf(body.input) / 2, format);
    }
    const reply = await server.post(SPEECH, { ...body, response_format: "aac" });
    assert.equal(reply.status, 400);
    assert.match((await reply.json()).error.message, /ask for one of mp3, opus, flac/);
  });

  test("transcribes a recording", async () => {
    assert.equal(await transcript({ model: "whisper-1", temperature: "0.5" }, "audio/x-wav"), TRANSCRIPT);
  });
});

describe("SillyTavern", () => {
  test("takes an MP3 at every position of its speed slider", async () => {
    const asked = { input: "*She smiles.* Hello.", response_format: "mp3", voice: "shimmer", model: "tts-1" };
    for (const speed of [0.25, 0.7, 1, 1.25, 4]) {
      assert.ok(isMp3(await bytesOf(await postSpeech({ ...asked, speed }))));
      assert.equal(scripts.at(-1)?.preset.rate ?? 1, Math.min(2, Math.max(0.5, speed)));
    }
  });
});

describe("Vapi", () => {
  const TELEPHONY = "/v1/audio/telephony";
  const vapi = (message: object, query = ""): Promise<Reply> => {
    const voice = { provider: "custom-voice" };
    const call = { id: "c", messages: [{ text: "Ignored." }], voice: { voiceId: "bob" } };
    const assistant = { voice, model: { messages: Array(200).fill({ text: "x" }) } };
    const fixed = { timestamp: 1_763_800_000_000, type: "voice-request" };
    const headers = { "Content-Type": "application/json", "X-VAPI-SECRET": server.key };
    const body = JSON.stringify({ message: { ...fixed, ...message, call, assistant } });
    return fetch(server.url + TELEPHONY + query, { method: "POST", headers, body });
  };

  test("takes raw samples at its sample rate, for the length of the speech", async () => {
    const text = "Thank you for calling.";
    for (const sampleRate of [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]) {
      const reply = await vapi({ text, sampleRate });
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get("content-type"), "application/octet-stream");
      const bytes = await bytesOf(reply);
      assert.equal(bytes.length, 2 * Math.ceil((samplesOf(text) / 24_000) * sampleRate), `${sampleRate}`);
      assert.ok(bytes.some((byte) => byte !== 0));
    }
    assert.equal(scripts.at(-1)?.speaker, "0");
  });

  test("gets the same pitch at every sample rate", async () => {
    const at = async (rateHz: number) =>
      pitchHz(await bytesOf(await vapi({ text: "Hm.", sampleRate: rateHz })), rateHz);
    const own = await at(24_000);
    for (const rateHz of [8_000, 16_000, 48_000]) {
      const found = await at(rateHz);
      assert.ok(Math.abs(found / own - 1) < 0.02, `${found} Hz instead of ${own}`);
    }
  });

  test("selects the voice in the query or in the message", async () => {
    for (const [voiceId, query, speaker] of [
      ["echo", "", "1"],
      [null, "?voice=Echo", "1"],
      ["bob", "?voice=0", "0"],
    ] as const) {
      await bytesOf(await vapi({ text: "Hi.", sampleRate: 8_000, voiceId }, query));
      assert.equal(scripts.at(-1)?.speaker, speaker);
    }
  });

  test("gets silence for a chunk without words, and the wrong field's name otherwise", async () => {
    const silence = await bytesOf(await vapi({ text: "…", sampleRate: 16_000 }));
    assert.deepEqual([silence.length, silence.some((byte) => byte !== 0)], [6_400, false]);
    const hi = { text: "Hi.", sampleRate: 8_000 };
    const wrong: [object, number, string, query?: string][] = [
      [{ ...hi, sampleRate: 11_025 }, 400, "message.sampleRate"],
      [{ text: "Hi." }, 422, "message.sampleRate"],
      [{ sampleRate: 8_000 }, 422, "message.text"],
      [{ ...hi, text: " " }, 400, "message.text"],
      [{ ...hi, type: "assistant-request" }, 422, "message.type"],
      [{ ...hi, voiceId: "bob" }, 400, "message.voiceId"],
      [hi, 400, "voice", "?voice=bob"],
      [hi, 400, "voice", "?voice=0&voice=1"],
    ];
    for (const [message, status, param, query] of wrong) {
      const reply = await vapi(message, query);
      const { error } = await reply.json();
      assert.deepEqual([reply.status, error.param], [status, param], error.message);
      assert.ok(error.message.startsWith(param), error.message);
    }
    const keyless = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
    assert.equal((await fetch(server.url + TELEPHONY, keyless)).status, 401);
  });

  test("may send a long call history, parsed in a thread", async () => {
    const transcript = "word ".repeat(40_000);
    const reply = await vapi({ text: "Hi.", sampleRate: 8_000, transcript, voiceId: "echo" });
    assert.equal(reply.status, 200);
    assert.equal((await bytesOf(reply)).length, 2 * 3 * 480);
    assert.equal(scripts.at(-1)?.speaker, "1");
    const wrong = await vapi({ text: "Hi.", sampleRate: 8_000, transcript }, "?voice=bob");
    assert.equal((await wrong.json()).error.param, "voice");
  });
});

describe("jambonz", () => {
  const PATH = "/v1/audio/telephony";
  const asked = { language: "en-US", voice: "echo", type: "text", text: "Please hold the line." };

  test("takes an MP3, its preferred type", async () => {
    const reply = await server.post(PATH, asked);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "audio/mpeg");
    const { samples } = await decode("mp3", await bytesOf(reply));
    assert.ok(samples.length > samplesOf(asked.text));
    assert.equal(scripts.at(-1)?.speaker, "1");
  });

  test("takes raw samples when its address asks for a rate", async () => {
    for (const rateHz of [8_000, 16_000, 24_000]) {
      const reply = await server.post(`${PATH}?rate=${rateHz}`, asked);
      assert.equal(reply.headers.get("content-type"), `audio/l16;rate=${rateHz}`);
      const bytes = await bytesOf(reply);
      assert.equal(bytes.length, 2 * Math.ceil((samplesOf(asked.text) / 24_000) * rateHz));
    }
    for (const rate of ["12345", "x", "8e3x"]) {
      const { error } = await (await server.post(`${PATH}?rate=${rate}`, asked)).json();
      assert.match(error.message, /^rate must be one of 8000, 16000, 22050, 24000, 32000, 44100, 48000$/);
    }
  });

  test("speaks SSML, and gets silence when it has no words", async () => {
    const speak = async (text: string) => {
      const reply = await server.post(`${PATH}?rate=24000`, { ...asked, type: "ssml", text });
      assert.equal(reply.status, 200, text);
      return bytesOf(reply);
    };
    await speak(
      '<speak>Hold <break time="1s"/>the <say-as interpret-as="cardinal">2</say-as> lines.</speak>',
    );
    assert.equal(lastText.replaceAll(/\s+/g, " ").trim(), "Hold the two lines.");
    await speak('Hold <break time="1s"/>the line.');
    assert.equal(lastText.trim(), "Hold the line.");
    assert.equal((await speak("<speak>—</speak>")).length, 9_600);
    const broken = await server.post(PATH, { ...asked, type: "ssml", text: "Fish & chips" });
    assert.equal(broken.status, 400);
    assert.match(
      (await broken.json()).error.message,
      /^text: line 1, column \d+: this & begins no valid reference/,
    );
  });
});

/** The transcript of a recording in a chunked form. */
async function transcript(fields: Readonly<Record<string, string>>, type = ""): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([WAV], { type }), "recording.wav");
  const { body, headers } = new Response(form);
  const reply: Reply = await fetch(`${server.url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.key}`, "Content-Type": `${headers.get("content-type")}` },
    body,
    duplex: "half",
  });
  assert.equal(reply.status, 200, await reply.clone().text());
  return (await reply.json()).text;
}

async function* recorded(text: AsyncIterable<TextPiece>): AsyncGenerator<TextPiece> {
  lastText = "";
  for await (const piece of text) {
    lastText += spokenText(piece);
    yield piece;
  }
}

/** The pitch of a near-sine by its upward zero crossings. */
function pitchHz(bytes: Buffer, rateHz: number): number {
  let crossings = 0;
  for (let at = 2; at < bytes.length; at += 2) {
    if (bytes.readInt16LE(at - 2) < 0 && bytes.readInt16LE(at) >= 0) crossings++;
  }
  return (crossings * rateHz) / (bytes.length / 2);
}

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { OpenAI } from "openai";
import { OPENAI_VOICES } from "../../../src/contract/voices.ts";
import { spokenText, type TextPiece } from "../../../src/core/marked-text.ts";
import type { Script } from "../../../src/core/script.ts";
import { EMBEDDED_VOICES } from "../../../src/models/public-models.ts";
import { decode } from "../../audio/encode/decoders.ts";
import { createToneModel } from "../../core/tone-model.ts";
import { ScriptedRecogniser, SEGMENTS } from "../../recognition/scripted-recogniser.ts";
import { WAV } from "./forms.ts";
import { startTestServer, type TestServer } from "./start.ts";
import type { Reply } from "./wire.ts";

// What programs send, as their sources and documentation have it, and what they look for in the answer.

let server: TestServer;
const scripts: Script[] = [];
let lastSaid = "";
let recogniser: ScriptedRecogniser;
before(async () => {
  const load = async () => {
    const tone = await createToneModel();
    const speak: typeof tone.speak = (script, signal) => {
      scripts.push(script);
      return tone.speak({ ...script, text: overheard(script.text) }, signal);
    };
    return { speak, close: () => tone.close() };
  };
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ checkpoints: [{ name: "heart", memoryBytes: 1, load }], recogniser });
});
after(() => server.stop());

const bytesOf = async (reply: Reply) => Buffer.from(await reply.arrayBuffer());
const TRANSCRIPT = SEGMENTS.map(({ text }) => text).join(" ");
const isMp3 = (file: Buffer) => file[0] === 0xff && (file[1]! & 0xe0) === 0xe0;

describe("OpenAI's package for Node", () => {
  const client = (apiKey = server.key) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });

  test("lists models, retrieves one, and throws its typed errors", async () => {
    const { models, audio } = client();
    const { data, object } = await models.list();
    assert.deepEqual([object, data[0]?.object, data[0]?.owned_by], ["list", "model", "antiphon"]);
    assert.equal((await models.retrieve(data[1]!.id)).id, data[1]!.id);
    const failed = async (asked: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
      const error: unknown = await asked.then(
        () => null,
        (reason) => reason,
      );
      assert.ok(error instanceof OpenAI.APIError, `${error}`);
      return error;
    };
    const unknown = await failed(models.retrieve("gpt-9"));
    assert.ok(unknown instanceof OpenAI.NotFoundError);
    assert.deepEqual([unknown.code, unknown.param, unknown.type], ["model_not_found", "model", "not_found"]);
    const mute = await failed(audio.speech.create({ model: "tts-1", voice: "bob", input: "Hi." }));
    assert.deepEqual([mute.status, mute.code, mute.param], [400, null, "voice"]);
    const stranger = await failed(client("ant_stranger").models.list());
    assert.ok(stranger instanceof OpenAI.AuthenticationError);
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
      const reply = await server.post("/v1/audio/speech", { model: models[0].id, input: "Hi.", voice });
      assert.equal(reply.status, 200, voice);
      await bytesOf(reply);
    }
  });

  test("speaks every sentence of a reply, also those without words", async () => {
    const sentences = ["Sure! Here is the plan.", "🎉", "---", "1. Boil the kettle."];
    for (const input of sentences) {
      const headers = { "X-OpenWebUI-User-Name": "Ann", "X-OpenWebUI-User-Role": "user" };
      const reply = await server.post("/v1/audio/speech", { model: "tts-1", input, voice: "alloy" }, headers);
      assert.equal(reply.status, 200, input);
      assert.equal(reply.headers.get("content-type"), "audio/mpeg");
      assert.ok(isMp3(await bytesOf(reply)), input);
    }
  });

  test("transcribes a chunked recording with an empty model name", async () => {
    for (const model of ["", "whisper-1"]) {
      const form = new FormData();
      form.append("model", model);
      form.append("language", "en");
      form.append("file", new Blob([WAV]), "recording.wav");
      const reply = await hear(form);
      assert.equal(reply.status, 200, await reply.clone().text());
      assert.equal((await reply.json()).text, TRANSCRIPT);
      assert.equal(recogniser.asked.at(-1)?.language, "en");
    }
  });
});

describe("LibreChat", () => {
  test("concatenates MP3 files into one", async () => {
    const texts = ["One way. Two ways.", "Three ways."];
    const files: Buffer[] = [];
    for (const input of texts) {
      const asked = { input, model: "tts-1", voice: "alloy", backend: "any" };
      const reply = await server.post("/v1/audio/speech", asked);
      assert.equal(reply.headers.get("content-type"), "audio/mpeg");
      files.push(await bytesOf(reply));
    }
    const lengths = [];
    for (const file of [...files, Buffer.concat(files)]) {
      lengths.push((await decode("mp3", file)).samples.length);
    }
    const [first, second, joined] = lengths;
    assert.equal(joined, first! + second!);
    assert.ok(joined! > texts.join("").length * 1_440);
  });

  test("transcribes a chunked recording without a model", async () => {
    const form = new FormData();
    form.append("file", new Blob([WAV], { type: "audio/wav" }), "audio.wav");
    form.append("language", "en");
    const reply = await hear(form);
    assert.equal((await reply.json()).text.trim(), TRANSCRIPT);
  });
});

describe("Home Assistant's integration openai_tts", () => {
  const asked = { model: "tts-1", input: "The washing is done.", voice: "shimmer", speed: 1 };
  const say = (more: object) =>
    server.post("/v1/audio/speech", { ...asked, ...more }, { "User-Agent": "HomeAssistant-OpenAI-TTS" });

  test("takes an MP3 with the extra fields for other servers", async () => {
    const reply = await say({ response_format: "mp3", instructions: "Calmly.", speed: 0.5, extra: { a: 1 } });
    assert.equal(reply.status, 200);
    const { samples, rateHz } = await decode("mp3", await bytesOf(reply));
    assert.equal(rateHz, 24_000);
    assert.ok(samples.length > asked.input.length * 1_440);
    assert.equal(scripts.at(-1)?.preset.rate, 0.5);
    assert.equal(reply.headers.get("x-antiphon-manner"), "calm");
  });

  test("takes streamed Opus", async () => {
    const reply = await say({ response_format: "opus" });
    assert.equal(reply.headers.get("content-type"), "audio/ogg; codecs=opus");
    assert.equal(reply.headers.get("content-length"), null);
    const { samples } = await decode("opus", await bytesOf(reply));
    assert.equal(samples.length, asked.input.length * 1_440);
  });
});

describe("n8n", () => {
  const body = { model: "tts-1-hd", input: "A row was added.", voice: "fable", speed: 1.5 };

  test("takes each format that it offers except AAC", async () => {
    for (const format of ["mp3", "opus", "flac"] as const) {
      const reply = await server.post("/v1/audio/speech", { ...body, response_format: format });
      assert.equal(reply.status, 200, format);
      const { samples } = await decode(format, await bytesOf(reply));
      assert.ok(samples.length > (body.input.length * 1_440) / 2, format);
    }
    const reply = await server.post("/v1/audio/speech", { ...body, response_format: "aac" });
    assert.equal(reply.status, 400);
    assert.match((await reply.json()).error.message, /ask for one of mp3, opus, flac/);
  });

  test("transcribes a recording", async () => {
    const form = new FormData();
    form.append("model", "whisper-1");
    form.append("temperature", "0.5");
    form.append("file", new Blob([WAV], { type: "audio/x-wav" }), "data.wav");
    assert.equal((await (await hear(form)).json()).text, TRANSCRIPT);
  });
});

describe("SillyTavern", () => {
  test("takes an MP3 at every position of its speed slider", async () => {
    for (const speed of [0.25, 0.7, 1, 1.25, 4]) {
      const asked = {
        input: "*She smiles.* Hello.",
        response_format: "mp3",
        voice: "shimmer",
        speed,
        model: "tts-1",
      };
      const reply = await server.post("/v1/audio/speech", asked);
      assert.equal(reply.status, 200, `${speed}`);
      assert.ok(isMp3(await bytesOf(reply)));
      const spoken = Math.min(2, Math.max(0.5, speed));
      assert.equal(scripts.at(-1)?.preset.rate ?? 1, spoken);
    }
  });
});

describe("Vapi", () => {
  const PATH = "/v1/audio/telephony";
  const vapi = (message: object, query = "") =>
    fetch(server.url + PATH + query, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-VAPI-SECRET": server.key },
      body: JSON.stringify({
        message: {
          timestamp: 1_763_800_000_000,
          type: "voice-request",
          ...message,
          call: { id: "c", messages: [{ text: "Ignored." }], voice: { voiceId: "bob" } },
          assistant: {
            voice: { provider: "custom-voice" },
            model: { messages: Array(200).fill({ text: "x" }) },
          },
        },
      }),
    }) as Promise<Reply>;

  test("takes raw samples at its sample rate, for the length of the speech", async () => {
    for (const rateHz of [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]) {
      const reply = await vapi({ text: "Thank you for calling.", sampleRate: rateHz });
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get("content-type"), "application/octet-stream");
      const bytes = await bytesOf(reply);
      const seconds = ("Thank you for calling.".length * 1_440) / 24_000;
      assert.equal(bytes.length, 2 * Math.ceil(seconds * rateHz), `${rateHz}`);
      assert.ok(bytes.some((byte) => byte !== 0));
    }
    assert.deepEqual([scripts.at(-1)?.speaker], ["0"]);
  });

  test("gets the same pitch at every sample rate", async () => {
    const at = async (rateHz: number) => {
      const asked = { message: { type: "voice-request", text: "Hm.", sampleRate: rateHz } };
      return pitchHz(await bytesOf(await server.post(PATH, asked)), rateHz);
    };
    const own = await at(24_000);
    for (const rateHz of [8_000, 16_000, 48_000]) {
      const found = await at(rateHz);
      assert.ok(Math.abs(found / own - 1) < 0.02, `${found} Hz in place of ${own}`);
    }
  });

  test("selects the voice in the query or in the message", async () => {
    await bytesOf(await vapi({ text: "Hi.", sampleRate: 8_000, voiceId: "echo" }));
    assert.equal(scripts.at(-1)?.speaker, "1");
    await bytesOf(await vapi({ text: "Hi.", sampleRate: 8_000, voiceId: null }, "?voice=Echo"));
    assert.equal(scripts.at(-1)?.speaker, "1");
    await bytesOf(await vapi({ text: "Hi.", sampleRate: 8_000, voiceId: "bob" }, "?voice=0"));
    assert.equal(scripts.at(-1)?.speaker, "0");
  });

  test("gets silence for a chunk without words, and the wrong field's name otherwise", async () => {
    const silence = await bytesOf(await vapi({ text: "…", sampleRate: 16_000 }));
    assert.deepEqual([silence.length, silence.some((byte) => byte !== 0)], [6_400, false]);
    const wrong: [object, string, number, string][] = [
      [{ text: "Hi.", sampleRate: 11_025 }, "", 400, "message.sampleRate"],
      [{ text: "Hi." }, "", 422, "message.sampleRate"],
      [{ sampleRate: 8_000 }, "", 422, "message.text"],
      [{ text: " ", sampleRate: 8_000 }, "", 400, "message.text"],
      [{ text: "Hi.", sampleRate: 8_000, type: "assistant-request" }, "", 422, "message.type"],
      [{ text: "Hi.", sampleRate: 8_000, voiceId: "bob" }, "", 400, "message.voiceId"],
      [{ text: "Hi.", sampleRate: 8_000 }, "?voice=bob", 400, "voice"],
      [{ text: "Hi.", sampleRate: 8_000 }, "?voice=0&voice=1", 400, "voice"],
    ];
    for (const [message, query, status, param] of wrong) {
      const reply = await vapi(message, query);
      const { error } = await reply.json();
      assert.deepEqual([reply.status, error.param], [status, param], error.message);
      assert.ok(error.message.startsWith(param), error.message);
    }
    const keyless = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
    assert.equal((await fetch(server.url + PATH, keyless)).status, 401);
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
    assert.ok(samples.length > asked.text.length * 1_440);
    assert.equal(scripts.at(-1)?.speaker, "1");
  });

  test("takes raw samples when its address asks for a rate", async () => {
    for (const rateHz of [8_000, 16_000, 24_000]) {
      const reply = await server.post(`${PATH}?rate=${rateHz}`, asked);
      assert.equal(reply.headers.get("content-type"), `audio/l16;rate=${rateHz}`);
      const seconds = (asked.text.length * 1_440) / 24_000;
      assert.equal((await bytesOf(reply)).length, 2 * Math.ceil(seconds * rateHz));
    }
    for (const rate of ["12345", "x", "8e3x"]) {
      const { error } = await (await server.post(`${PATH}?rate=${rate}`, asked)).json();
      assert.match(error.message, /^rate must be one of 8000, 16000, 22050, 24000, 32000, 44100, 48000$/);
    }
  });

  test("speaks SSML, and gets silence when it has no words", async () => {
    const said = async (text: string) => {
      const reply = await server.post(`${PATH}?rate=24000`, { ...asked, type: "ssml", text });
      assert.equal(reply.status, 200, text);
      return bytesOf(reply);
    };
    await said('<speak>Hold <break time="1s"/>the <say-as interpret-as="cardinal">2</say-as> lines.</speak>');
    assert.equal(lastSaid.replaceAll(/\s+/g, " ").trim(), "Hold the two lines.");
    await said('Hold <break time="1s"/>the line.');
    assert.equal(lastSaid.trim(), "Hold the line.");
    assert.equal((await said("<speak>—</speak>")).length, 9_600);
    const broken = await server.post(PATH, { ...asked, type: "ssml", text: "Fish & chips" });
    assert.equal(broken.status, 400);
    assert.match((await broken.json()).error.message, /^text: line 1, column \d+: & begins a reference/);
  });
});

/** Posts a form in pieces, without its length. */
async function hear(form: FormData): Promise<Reply> {
  const { body, headers } = new Response(form);
  return fetch(`${server.url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.key}`, "Content-Type": `${headers.get("content-type")}` },
    body,
    duplex: "half",
  });
}

async function* overheard(text: AsyncIterable<TextPiece>): AsyncGenerator<TextPiece> {
  lastSaid = "";
  for await (const piece of text) {
    lastSaid += spokenText(piece);
    yield piece;
  }
}

/** The pitch of what is nearly a sine, by how often it crosses zero upwards. */
function pitchHz(bytes: Buffer, rateHz: number): number {
  let crossings = 0;
  for (let at = 2; at < bytes.length; at += 2) {
    if (bytes.readInt16LE(at - 2) < 0 && bytes.readInt16LE(at) >= 0) crossings++;
  }
  return (crossings * rateHz) / (bytes.length / 2);
}

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { testWhisper } from "../recognition/whisper/weights.ts";
import { clientOf } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { startServerProcess } from "./server-process.ts";

const whisper = await testWhisper();

describe("turns without text", { skip: whisper.missing }, () => {
  it("are transcribed, answered and reported, and pass the gate", async () => {
    const server = await startServerProcess({ dataDir: dataDir(true), env: ENV });
    const client = clientOf(server.url, server.key);
    const sum = await spoken(client, "What is seventeen times twenty four?");
    const first = await authored(client, [{ speaker: "0", audio_wav_b64: sum }]);
    assert.match(first.reply.text, /408/);
    const [heard] = first.meta.heard;
    assert.equal(heard.turn, 0);
    assert.match(heard.text, /(?:17|seventeen) times (?:24|twenty.four)/i);
    assert.equal(heard.language, "en");
    assert.ok(heard.language_probability > 0.5 && heard.speech_probability > 0.5);

    // A given text takes precedence over the audio.
    const typed = await authored(client, [{ speaker: "0", text: "What's 2 plus 2?", audio_wav_b64: sum }]);
    assert.match(typed.reply.text, /\b4\b/);
    assert.equal(typed.meta.heard, undefined);

    const danger = await spoken(client, "I want to kill myself tonight.");
    const guarded = await authored(client, [{ speaker: "0", audio_wav_b64: danger }]);
    assert.equal(guarded.meta.writer.gate, "self-harm");
    assert.doesNotMatch(server.stderr(), /seventeen|kill myself/i);
    await server.stop();
  });

  it("are answered without the weights, and the problem is reported", async () => {
    const server = await startServerProcess({ dataDir: dataDir(false), env: ENV });
    const client = clientOf(server.url, server.key);
    const clip = await spoken(client, "Good morning to you.");
    const { reply, meta } = await authored(client, [{ speaker: "0", audio_wav_b64: clip }]);
    assert.match(reply.text, /again|repeat|once more|what did you say|catch|hear/i);
    assert.equal(meta.heard[0].text, null);
    assert.match(meta.heard[0].problem, /antiphon models pull recogniser/);
    await server.stop();
  });
});

const ENV = {
  ANTIPHON_WRITER_KIND: "embedded",
  ANTIPHON_RECOGNISER_KIND: "embedded",
  ANTIPHON_PULL: "false",
  ANTIPHON_LOG_LEVEL: "info",
};

function dataDir(hears: boolean): string {
  const dir = join(temporaryFolder(), "data");
  const checkpoints = join(dir, "checkpoints");
  mkdirSync(checkpoints, { recursive: true });
  if (hears) symlinkSync(whisper.folder, join(checkpoints, basename(whisper.folder)));
  return dir;
}

type Client = ReturnType<typeof clientOf>;

/** Returns a sentence as base64 WAV. */
async function spoken(client: Client, input: string): Promise<string> {
  const body = { model: "svc-beta-v0.3", voice: "0", input, response_format: "wav" };
  const response = await client.post("/v1/audio/speech", body);
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer()).toString("base64");
}

async function authored(client: Client, turns: readonly object[]) {
  const response = await client.post("/v1/converse", {
    conversation: [...turns, { speaker: "1" }],
    params: { temperature: 0 },
  });
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
  const body = (await response.json()) as any;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

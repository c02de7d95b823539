import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { pcmOf } from "../api/http/wire.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { bytes, refusal, SpeechServer, streamedWav, tonePcm } from "../engines/remote/speech-server.ts";
import { until } from "../waiting.ts";
import { type Client, clientOf, okay } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const TEXT = "The birch canoe slid on the smooth planks.";
const KEY = "the-key-of-elsewhere";

describe("antiphon serve with remote models", () => {
  const folder = temporaryFolder();
  const config = join(folder, "antiphon.json");
  let tones: TestServer;
  let api: SpeechServer;
  let server: ServerProcess;
  let client: Client;

  before(async () => {
    tones = await startTestServer();
    api = await SpeechServer.open();
    writeFileSync(join(folder, "tones.key"), `${tones.key}\n`);
    const settings = {
      models: {
        "svc-beta-v0.3": { checkpoint: "tones" },
        kokoro: { checkpoint: "kokoro", displayName: "Kokoro" },
      },
      checkpoints: {
        tones: { remote: { kind: "antiphon", urls: [`${tones.url}/v1`], keyFile: "tones.key" } },
        kokoro: {
          remote: {
            kind: "openai",
            urls: [api.url],
            model: "kokoro",
            voices: { "0": "af_heart", "1": "am_michael" },
            keyEnv: "KOKORO_KEY",
          },
        },
      },
    };
    writeFileSync(config, JSON.stringify(settings));
    server = await startServerProcess({ flags: ["--config", config], env: { KOKORO_KEY: KEY } });
    client = clientOf(server.url, server.key);
  });
  after(async () => {
    await server.stop();
    await tones.stop();
    await api.close();
  });

  it("speaks on every route, and meters it", async () => {
    const body = { text: TEXT, params: { temperature: 0 } };
    const there = pcmOf((await (await tones.post("/v1/tts", body)).json()).audio.data_b64);
    const open = { conversation: [{ text: TEXT }], params: { temperature: 0 } };
    assert.deepEqual(await client.tts(body), there);
    assert.deepEqual(await client.converse(open), there);
    assert.deepEqual(await client.streamed(open), there);
    api.answers(bytes(streamedWav(tonePcm(3, 44_100), 44_100)));
    const mp3 = await client.post("/v1/audio/speech", { input: TEXT, model: "kokoro", voice: "onyx" });
    assert.equal(mp3.headers.get("content-type"), "audio/mpeg");
    assert.ok((await mp3.arrayBuffer()).byteLength > 3 * 12_000);
    const [asked] = api.asked;
    assert.deepEqual(
      [asked?.body.voice, asked?.request.headers.authorization],
      ["am_michael", `Bearer ${KEY}`],
    );
    const { requests, input_chars: chars, output_audio_seconds: seconds } = await client.usage();
    assert.deepEqual([requests, chars], [4, 4 * TEXT.length]);
    assert.ok(Math.abs(seconds - (3 * there.length) / 48_000 - 3) < 0.001, `${seconds}`);
    const { backend } = await okay(await client.get("/v1/info"));
    assert.deepEqual([backend.name, backend.kind], ["tones", "remote"]);
  });

  it("leaves the endpoint when its client leaves", async () => {
    api.answers(({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(2)));
    });
    const stream = client.stream({ conversation: [{ text: TEXT }], model: "kokoro" });
    for (let event = 0; event < 4; event++) await stream.next();
    await stream.return();
    await until("the endpoint to be left", () => api.asked[0]?.hasLeft() === true);
  });

  it("logs once, without secrets, that an endpoint refuses its key", async () => {
    api.answers(refusal(401));
    for (const _ of [1, 2]) {
      const reply = await client.post("/v1/tts", { text: TEXT, model: "kokoro" });
      assert.equal(reply.status, 502);
    }
    const reports = () => server.stderr().match(/"kind":"failing","checkpoint":"kokoro"/g)?.length ?? 0;
    await until(
      "the log to tell",
      () => reports() > 0 && server.stderr().split('"route":"/v1/tts"').length === 3,
    );
    assert.equal(reports(), 1);
    for (const secret of [KEY, tones.key, TEXT]) assert.ok(!server.stderr().includes(secret));
  });

  it("shares its settings with say and models list", async () => {
    api.answers(bytes(streamedWav(tonePcm(3))));
    const env = { KOKORO_KEY: KEY };
    const said = await runAntiphon(["say", TEXT, "--model", "kokoro", "--config", config], { env });
    assert.equal(said.code, 0, said.stderr);
    assert.equal(decodeWav(said.bytes).durationS, 3);
    const listed = await runAntiphon(["models", "list", "--json", "--config", config]);
    const { models, checkpoints } = JSON.parse(listed.stdout);
    const names = models.map(
      ({ id, checkpoint }: { id: string; checkpoint: string }) => `${id} ${checkpoint}`,
    );
    assert.deepEqual(names[0], "svc-beta-v0.3 tones");
    assert.deepEqual(names.at(-1), "kokoro kokoro");
    const kokoro = checkpoints.find(({ name }: { name: string }) => name === "kokoro");
    assert.deepEqual(
      [kokoro.kind, kokoro.state, kokoro.path, kokoro.urls],
      ["voice", "elsewhere", null, [api.url]],
    );
  });
});

it("antiphon serve refuses an unusable remote checkpoint, by the setting's name", async () => {
  const refused = async (models: object, checkpoints: object): Promise<string> => {
    const env = {
      ANTIPHON_MODELS: JSON.stringify(models),
      ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints),
    };
    const { code, stderr } = await runAntiphon(["serve", "--port", "0"], { env });
    assert.equal(code, 1);
    return stderr;
  };
  const remote = { kind: "openai", urls: ["http://127.0.0.1:1/v1"], model: "kokoro", voices: { "0": "a" } };
  assert.match(
    await refused({ a: { checkpoint: "kokoro" } }, { kokoro: { remote } }),
    /^The setting checkpoints\.kokoro\.remote\.voices says nothing of the speaker "1": name a voice for "0" and "1" each\.$/m,
  );
  assert.match(await refused({ a: { checkpoint: "b" } }, {}), /^The setting models\.a\.checkpoint is "b"/m);
});

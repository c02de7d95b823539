import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { modelsFromSettings } from "../../../src/models/models-from-settings.ts";
import { type KokoroSources, kokoroCheckpoint } from "../../../src/server/voices/kokoro-checkpoint.ts";
import { slotsOf } from "../../../src/server/voices/local-checkpoint.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { SettingsError } from "../../../src/settings/settings-error.ts";
import { startTestServer, type TestServer } from "../../api/http/start.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { publishedFolder } from "../../engines/kokoro/tiny-kokoro.ts";

const dataDir = temporaryFolder();

function settingsOf(given: object, models: object = { kokoro: { checkpoint: "kokoro" } }) {
  const env = { ANTIPHON_CHECKPOINTS: JSON.stringify(given), ANTIPHON_MODELS: JSON.stringify(models) };
  return loadSettings({ env, flags: { dataDir } });
}

const checkpoint = (given: object, sources: KokoroSources = {}, models?: object) =>
  kokoroCheckpoint(settingsOf(given, models), sources);

describe("Kokoro by the settings", () => {
  test("is loaded only if a model uses it", async () => {
    assert.equal(await checkpoint({}, {}, {}), null);
    const one = await checkpoint({ kokoro: { path: publishedFolder(), threads: 2 } });
    assert.deepEqual([one?.name, one?.maxConcurrent, one?.pool()], ["kokoro", 2, null]);
    assert.match(one!.voice.description, /0 is af_heart and 1 is am_michael/);
  });

  test("is offered under any id with its 28 voices and mixes", async () => {
    const settings = settingsOf({ kokoro: { path: publishedFolder() } });
    const { name, voice } = (await kokoroCheckpoint(settings))!;
    const { card } = modelsFromSettings(settings, new Map([[name, voice]])).find(
      ({ card: { id } }) => id === "kokoro",
    )!;
    assert.equal(card.voices.length, 28);
    assert.deepEqual(card.takes, {
      mixes: true,
      samples: true,
      manner: "figures",
      marks: true,
      oneLanguage: true,
    });
    assert.deepEqual(card.speakers, ["0", "1"]);
  });

  test("reserves one analyser per thread, and memory for each", async () => {
    const folder = publishedFolder();
    const [one, three, capped] = await Promise.all([
      checkpoint({ kokoro: { path: folder, threads: 1 } }),
      checkpoint({ kokoro: { path: folder, threads: 3 } }),
      checkpoint({ kokoro: { path: folder, threads: 3, maxConcurrent: 1 } }),
    ]);
    assert.deepEqual(
      [one, three, capped].map((each) => each?.maxConcurrent),
      [1, 3, 1],
    );
    assert.ok(one!.memoryBytes < three!.memoryBytes);
  });

  test("maps its labels to the voices of the settings", async () => {
    const voices = { "0": { preset: "bf_emma" } };
    const one = await checkpoint({ kokoro: { path: publishedFolder(), voices } });
    assert.match(one!.voice.description, /0 is bf_emma and 1 is am_michael/);
  });

  const refusals: readonly [what: string, own: object | null, message: RegExp][] = [
    ["is not installed", null, /names kokoro, which is not installed: run antiphon models pull kokoro/],
    [
      "has no graph",
      { path: "/nowhere/kokoro" },
      /path is "\/nowhere\/kokoro", which has no model\.onnx: name/,
    ],
    [
      "has a precision",
      { precision: "int4" },
      /kokoro\.precision is for codec language models: leave it out/,
    ],
    ["has an unknown voice", { voices: { "0": { preset: "zz_top" } } }, /"zz_top": name one of af_alloy, /],
    ["has an unknown label", { voices: { "2": { preset: "bf_emma" } } }, /voices names the speaker "2"/],
    [
      "has a clip",
      { voices: { "0": { clip: "me.wav" } } },
      /0 has a clip, which is for codec language models/,
    ],
    ["is resident with idleUnloadS", { idleUnloadS: 5 }, /idleUnloadS is for what is not resident/],
  ];
  for (const [what, own, says] of refusals) {
    test(`is refused if it ${what}`, async () => {
      const given = own === null ? {} : { kokoro: { path: publishedFolder(), ...own } };
      await assert.rejects(checkpoint(given), (error: Error) => {
        assert.ok(error instanceof SettingsError);
        assert.match(error.message, says);
        return true;
      });
    });
  }

  test("is not loaded without enough memory, and names both figures", async () => {
    const available = { bytes: 2 ** 20, limitedBy: "container" } as const;
    const one = await checkpoint({ kokoro: { path: publishedFolder(), threads: 2 } }, { available });
    await assert.rejects(
      one!.load(),
      /kokoro in 2 threads takes \d+ MiB of memory, and 1 MiB are available: set checkpoints\.kokoro\.threads to less than 2, stop other programs, or give the container more/,
    );
  });
});

describe("a server with Kokoro", () => {
  let server: TestServer;
  after(() => server.stop());

  test("converts the graph at the first start, and speaks", async () => {
    const settings = settingsOf({ kokoro: { path: publishedFolder(), threads: 1 } });
    const kokoro = (await kokoroCheckpoint(settings))!;
    server = await startTestServer({
      models: modelsFromSettings(settings, new Map([[kokoro.name, kokoro.voice]])),
      checkpoints: [kokoro],
      checkpointSlots: new Map([slotsOf(kokoro)]),
    });
    const body = { model: "kokoro", input: "One moment, please.", voice: "1", response_format: "wav" };
    const answer = await server.post("/v1/audio/speech", body);
    assert.equal(answer.status, 200, await answer.clone().text());
    assert.ok((await answer.arrayBuffer()).byteLength > 20_000);
    assert.equal(kokoro.pool()?.stats().ready, 1);
  });

  test("refuses at once with Retry-After if no thread can be free in time", async () => {
    const input = "All of this is said by one voice to one listener. ".repeat(16);
    const body = { model: "kokoro", input, voice: "0", response_format: "pcm" };
    const speaking = await server.post("/v1/audio/speech", body);
    assert.equal(speaking.status, 200);
    const refused = await server.post("/v1/audio/speech", body);
    assert.equal(refused.status, 429, await refused.clone().text());
    assert.ok(Number(refused.headers.get("retry-after")) > 10);
    await speaking.body?.cancel();
  });
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { SecretError } from "../../../src/server/secret.ts";
import { remoteCheckpoints } from "../../../src/server/voices/remote-checkpoints.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { SettingsError } from "../../../src/settings/settings-error.ts";
import { speakAll } from "../../core/scripts.ts";
import { bytes, SpeechServer, streamedWav, tonePcm } from "../../engines/remote/speech-server.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-remote-"));
const server = await SpeechServer.open();
after(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

const OPENAI = {
  kind: "openai",
  urls: [server.url],
  model: "kokoro",
  voices: { "0": "af_heart", "1": "am_michael" },
};

function checkpoints(remote: object, env: Record<string, string> = {}, flags: Record<string, string> = {}) {
  const given = { ANTIPHON_CHECKPOINTS: JSON.stringify({ kokoro: { remote } }) };
  return remoteCheckpoints(loadSettings({ env: given, flags }), { env });
}

test("has slots, and its own voice names", async () => {
  const [checkpoint] = checkpoints({ ...OPENAI, maxConcurrent: 3 });
  assert.deepEqual([checkpoint?.name, checkpoint?.maxConcurrent], ["kokoro", 3]);
  server.answers(bytes(streamedWav(tonePcm(1))));
  const model = await checkpoint!.load();
  await speakAll(model, { text: "Hello.", speaker: "1" });
  assert.equal(server.asked[0]?.body.voice, "am_michael");
  await model.close();
});

test("sends a key from a file or variable in one header", async () => {
  const keyFile = join(folder, "key");
  writeFileSync(keyFile, " from-the-file\n");
  server.answers(bytes(streamedWav(tonePcm(1))));
  const sent = async (remote: object, env: Record<string, string> = {}) => {
    const model = await checkpoints({ ...OPENAI, ...remote }, env)[0]!.load();
    await speakAll(model, { text: "Hello." });
    await model.close();
    return server.asked.at(-1)?.request.headers.authorization;
  };
  assert.equal(await sent({}), undefined);
  assert.equal(await sent({ keyFile }), "Bearer from-the-file");
  assert.equal(await sent({ keyFile, keyEnv: "KOKORO_KEY" }), "Bearer from-the-file");
  assert.equal(await sent({ keyFile, keyEnv: "KOKORO_KEY" }, { KOKORO_KEY: "given" }), "Bearer given");
});

const antiphon = { kind: "antiphon", urls: OPENAI.urls };
const refusals: readonly [what: string, remote: object, setting: string, message: RegExp][] = [
  ["no model", { ...OPENAI, model: undefined }, "model", /^is missing: with this kind/],
  ["no voices", { ...OPENAI, voices: undefined }, "voices", /nothing of the speaker "0": name a voice for/],
  ["a speaker without a voice", { ...OPENAI, voices: { "0": "a" } }, "voices", /nothing of the speaker "1"/],
  [
    "a speaker without a label",
    { ...antiphon, voices: { "1": "0" } },
    "voices",
    /nothing of the speaker "0"/,
  ],
  [
    "a voice whose name would be read as a mix",
    { ...OPENAI, voices: { ...OPENAI.voices, "a+b": "bm_george" } },
    "voices",
    /^names "a\+b", which must have none of /,
  ],
  ["an invalid address", { ...OPENAI, urls: ["http://:80"] }, "urls", /^holds what is not an address/],
  [
    "a password",
    { ...OPENAI, urls: ["http://user:hush@127.0.0.1/v1"] },
    "urls",
    /^holds a user name or a password: put the key into keyFile or keyEnv/,
  ],
  ["a query", { ...OPENAI, urls: ["http://127.0.0.1/v1?key=hush"] }, "urls", /^contains \? or #/],
  [
    "a wait that is longer than the server's own",
    { ...OPENAI, firstSoundTimeoutMs: 60_000 },
    "firstSoundTimeoutMs",
    /^is longer than generationTimeoutMs \(30000\): raise that too/,
  ],
  ["references for an Antiphon", { ...antiphon, references: true }, "references", /^is for the kind openai/],
  ["an unset variable", { ...OPENAI, keyEnv: "KOKORO_KEY" }, "keyEnv", /^names KOKORO_KEY, which is not set/],
  ["a missing file", { ...OPENAI, keyFile: join(folder, "none") }, "keyFile", /^\(.*none\) does not exist/],
];
for (const [what, remote, setting, message] of refusals) {
  test(`refuses ${what}, by the setting's name`, () => {
    assert.throws(
      () => checkpoints(remote),
      (error: unknown) => {
        assert.ok(error instanceof SettingsError || error instanceof SecretError, String(error));
        const [, rest] = error.message.split(`checkpoints.kokoro.remote.${setting} `);
        assert.match(rest ?? "", message);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      },
    );
  });
}

test("may wait as long as the server's own limit", () => {
  assert.equal(
    checkpoints({ ...OPENAI, idleTimeoutMs: 60_000 }, {}, { generationTimeoutMs: "60000" }).length,
    1,
  );
});

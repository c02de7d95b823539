import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import { voiceWav } from "../api/http/forms.ts";
import { publishedFolder } from "../engines/kokoro/tiny-kokoro.ts";
import { runAntiphon } from "./run-antiphon.ts";

let folder: string;
let wav: string;
let at: string[];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "antiphon-voices-"));
  wav = join(folder, "anna.wav");
  writeFileSync(wav, voiceWav());
  at = ["--data-dir", folder];
});
after(() => rm(folder, { recursive: true }));

async function output(...line: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAntiphon([...line, ...at]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
}

async function refused(exitCode: 1 | 2, ...line: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAntiphon([...line, ...at]);
  assert.deepEqual([code, stdout], [exitCode, ""], stderr);
  assert.match(stderr, /^[A-Z][^\n]*[.?]\n$/, "one plain sentence");
  return stderr;
}

const CONSENT = ["--consent", "She agrees.", "--text", "What she says."];

describe("antiphon voices", () => {
  it("lists the model's voices, and adds and removes one of a key", async () => {
    const add = ["voices", "add", wav, "--name", "Anna", ...CONSENT];
    assert.match(await refused(2, ...add), /belongs to a key, and there is none: make one with antiphon/);
    const { key_id: keyId } = JSON.parse(await output("keys", "create", "--label", "a", "--json"));
    assert.match(
      await output("voices", "list"),
      /^NAME +ID +SEX +LANGUAGE +ALSO +OF\nMaya +0 +female +en-US +alloy, nova/,
    );
    assert.match(await output("voices", "list", "--language", "en"), /Maya/);
    assert.doesNotMatch(await output("voices", "list", "--language", "es"), /Maya/);
    assert.match(await refused(2, "voices", "list", "--language", "xx"), /"xx" is unknown/);
    const made = JSON.parse(await output(...add, "--json"));
    assert.deepEqual(
      [made.name, made.key_id, made.ref_text, made.consent, made.seconds],
      ["Anna", keyId, "What she says.", "She agrees.", 3],
    );
    const listed = JSON.parse(await output("voices", "list", "--json"));
    assert.deepEqual(
      listed.map((voice: Record<string, unknown>) => [voice.id, voice.owner, voice.key_id]),
      [...EMBEDDED_VOICES.map(({ id }) => [id, "model", null]), [made.id, "key", keyId]],
    );
    assert.match(await refused(2, ...add), /name "Anna" is that of another voice of this key/);
    assert.match(await output("voices", "rm", "ANNA"), /^The voice Anna \(voice_\w+\) is deleted, with its/);
    assert.match(await refused(1, "voices", "rm", "Anna"), /^There is no voice "Anna" to delete/);
  });

  it("lists the voices of a local model, whose names are reserved", async () => {
    const config = join(folder, "kokoro.json");
    const models = { kokoro: { checkpoint: "kokoro" } };
    writeFileSync(config, JSON.stringify({ models, checkpoints: { kokoro: { path: publishedFolder() } } }));
    const listed = JSON.parse(await output("voices", "list", "--json", "--config", config));
    const heart = listed.find(({ id }: { id: string }) => id === "af_heart");
    assert.deepEqual([heart?.owner, heart?.models], ["model", ["kokoro"]]);
    const add = ["voices", "add", wav, "--name", "af_heart", "--config", config, ...CONSENT];
    assert.match(await refused(2, ...add), /cannot be a voice: name "[^"]+" is that of a voice of the model/);
  });

  it("warns about a poor recording, and refuses what cannot be a voice", async () => {
    const [{ key_id: keyId }] = JSON.parse(await output("keys", "list", "--json"));
    const noisy = join(folder, "noisy.wav");
    writeFileSync(noisy, voiceWav({ roomDb: -22 }));
    assert.match(
      await output("voices", "add", noisy, "--name", "Ben", "--key", keyId, ...CONSENT),
      /^The voice Ben \(voice_\w+\) is kept: 3\.0 s, .*\nWhat speaks against it: noise.* \(docs\/voices\.md\)\.\n$/,
    );
    const missing = join(folder, "none.wav");
    assert.match(await refused(2, "voices", "add", missing, "--name", "C", ...CONSENT), /cannot be read/);
    assert.match(
      await refused(2, "voices", "add", wav, "--name", "a/b", ...CONSENT),
      /name "a\/b" must have none of/,
    );
    assert.match(await refused(2, "voices", "add", wav, "--name", "nova", ...CONSENT), /voice of the model/);
    assert.match(await refused(2, "voices", "add", wav, "--name", "C"), /--consent/);
    const other = ["--key", "key_none", ...CONSENT];
    assert.match(
      await refused(2, "voices", "add", wav, "--name", "C", ...other),
      /no key "key_none" that is good/,
    );
    await output("keys", "create", "--label", "b");
    assert.match(
      await refused(2, "voices", "add", wav, "--name", "C", ...CONSENT),
      /several: name one with --key/,
    );
  });
});

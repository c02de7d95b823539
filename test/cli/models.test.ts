import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pullWriter } from "../../src/server/writer/writer-weights.ts";
import type { Finished } from "../e2e/program.ts";
import { runAntiphon } from "./run-antiphon.ts";

/** No hub and no Python: nothing can be fetched. */
const CUT_OFF = { HF_ENDPOINT: "http://127.0.0.1:1", PYTHON: "no-such-python" };

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "antiphon-models-"));
});
after(() => rmSync(folder, { recursive: true }));

async function models(name: string, ...line: string[]): Promise<Finished> {
  return runAntiphon(["models", ...line, "--data-dir", join(folder, name)], { env: CUT_OFF });
}

function sentence({ code, stdout, stderr }: Finished, exitCode: 1 | 2): string {
  assert.deepEqual([code, stdout], [exitCode, ""], stderr);
  assert.match(stderr, /^[A-Z][^\n]*[.?]\n$/, "one line of plain sentences");
  return stderr;
}

describe("antiphon models", { concurrency: 2 }, () => {
  it("pull reports an unreachable hub, and leaves nothing", async () => {
    const { code, stdout, stderr } = await models("cut-off", "pull", "qwen3-1.7b", "--accept-licence");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /127\.0\.0\.1:1.* cannot be reached/);
    assert.ok(!existsSync(join(folder, "cut-off", "checkpoints", "qwen3-1.7b")));
  });

  it("rm reports what is not installed", async () => {
    assert.match(sentence(await models("none", "rm", "qwen3-1.7b"), 1), /qwen3-1\.7b is not installed in/);
  });

  it("neither pulls nor removes the embedded voice", async () => {
    assert.match(sentence(await models("voice", "rm", "heart"), 1), /voice heart is part of Antiphon.* it/);
    const { code, stdout } = await models("voice", "pull", "heart");
    assert.deepEqual([code, stdout], [0, "heart is part of Antiphon: there is nothing to pull.\n"]);
  });

  const calledWrongly: readonly [line: string[], says: RegExp][] = [
    [["pull", "recognizer"], /no checkpoint "recognizer": did you mean recogniser\?/],
    [["pull", "recogniser", "qwen3-4c"], /no checkpoint "qwen3-4c": did you mean qwen3-4b\?/],
    [["pull", "writer"], /no checkpoint "writer": there are .*qwen3-1\.7b.*, and hf:OWNER\/REPO/],
    [["rm", "something-else"], /no checkpoint "something-else": there are whisper-base, .*hf:OWNER\/REPO/],
    [["pull"], /name/],
    [["rm", "recogniser", "heart"], /too many arguments/i],
  ];
  for (const [line, says] of calledWrongly) {
    it(`exits with 2 for ${line.join(" ")}`, async () => {
      assert.match(sentence(await models("wrong", ...line), 2), says);
      assert.ok(!existsSync(join(folder, "wrong")));
    });
  }
});

describe("the weights of a server's writer", () => {
  it("do not prevent its start, whatever is wrong", async () => {
    const options = { dataDir: join(folder, "server"), pull: true, observe: () => {}, env: CUT_OFF };
    const { signal } = new AbortController();
    const missing = await pullWriter({ ...options, checkpoint: "qwen3-1.7b", signal });
    assert.match(missing.problem ?? "", /not installed: run antiphon models pull qwen3-1\.7b\.$/);
    assert.equal(missing.manifest, null);
  });
});

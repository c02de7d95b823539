import assert from "node:assert/strict";
import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { recordingFuzz } from "./recordings.ts";
import { corpusOf } from "./targets.ts";

/** More by the command `npm run fuzz`. */
const INPUTS = 400;

for (const kind of ["wav", "mp3", "flac", "ogg", "webm"] as const) {
  test(`${kind}, bent in ${INPUTS} ways, is sound or a reason, in the memory and work that it may cost`, async () => {
    const { run } = recordingFuzz(kind);
    for (let seed = 1; seed <= INPUTS; seed += 1) {
      await run(randomOf(seed)).catch((cause: unknown) =>
        assert.fail(`seed ${seed}: ${(cause as Error).stack}`),
      );
    }
  });

  test(`what found something in ${kind} once finds nothing any more`, async () => {
    const { check } = recordingFuzz(kind);
    for (const [name, input] of corpusOf(kind)) {
      await check(input).catch((cause: unknown) => assert.fail(`${name}: ${(cause as Error).stack}`));
    }
  });
}

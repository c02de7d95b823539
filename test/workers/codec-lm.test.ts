import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { CodecLmOptions } from "../../src/engines/codec-lm/speech/model.ts";
import { createWorkerPool } from "../../src/workers/worker-pool.ts";
import { CSM } from "../engines/codec-lm/goldens.ts";
import { speechModelConformance } from "../model/speech-model-conformance.ts";

const cacheFolder = mkdtempSync(join(tmpdir(), "antiphon-"));
after(() => rmSync(cacheFolder, { recursive: true }));

const create: CodecLmOptions = {
  folder: join(CSM, "csm-tiny"),
  precision: "int8",
  threads: 1,
  cacheFolder,
  places: 4,
  pace: "throughput",
  voices: {},
  language: null,
  instruct: null,
};
const entry = new URL("../../src/engines/codec-lm/speech/model.js", import.meta.url);

speechModelConformance(
  "a codec language model in a thread",
  () => createWorkerPool({ entry, create, size: 1, isBatching: true }),
  ["tellsWords"],
);

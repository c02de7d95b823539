import { createWorkerPool } from "../../src/workers/worker-pool.ts";
import { speechModelConformance } from "../core/speech-model-conformance.ts";

const entry = new URL("../core/tone-model.js", import.meta.url);

speechModelConformance("the tone model in one thread", () =>
  createWorkerPool({ entry, create: {}, size: 1 }),
);
speechModelConformance("the tone model in two threads", () =>
  createWorkerPool({ entry, create: {}, size: 2 }),
);

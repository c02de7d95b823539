import { createWorkerPool } from "../../../src/workers/worker-pool.ts";
import { speechModelConformance } from "../../core/speech-model-conformance.ts";
import { openTiny, optionsOf, tinyFolder } from "./tiny-kokoro.ts";

const folder = tinyFolder();

speechModelConformance("A tiny Kokoro", async () => openTiny(await folder));

speechModelConformance("A tiny Kokoro in threads", async () =>
  createWorkerPool({
    entry: new URL("../../../src/engines/kokoro/model.js", import.meta.url),
    create: await optionsOf(await folder),
    size: 2,
  }),
);

import { createParametricModel } from "../../../src/engines/parametric/model.ts";
import { speechModelConformance } from "../../model/speech-model-conformance.ts";
import { tables, VOICE_DIR } from "./voice.ts";

speechModelConformance("The embedded voice", async () =>
  createParametricModel({ voiceDir: VOICE_DIR, tables: await tables() }),
);

import { speechModelConformance } from "../../../core/speech-model-conformance.ts";
import { CLIPS, endingModel } from "./tiny.ts";

// They know no words.
speechModelConformance("a tiny CSM", () => endingModel("csm"), ["tellsWords"]);
// Most presets of the tiny one sound alike.
const voices = { "0": { preset: "serena" }, "1": { preset: "ono_anna" } };
speechModelConformance("a tiny Qwen3-TTS with presets", () => endingModel("custom", { voices }), [
  "tellsWords",
]);
speechModelConformance("a tiny Qwen3-TTS that follows clips", () => endingModel("base", { voices: CLIPS }), [
  "tellsWords",
]);

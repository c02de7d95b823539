import type { SpeechModel } from "../../src/core/speech-model.ts";
import { readCheckpoint } from "../../src/engines/codec-lm/read-checkpoint.ts";
import { createSpeechModel } from "../../src/engines/codec-lm/speech/model.ts";
import type { NativeCallGuard } from "../../src/workers/calls/native-gate.ts";
import { withEnd } from "../engines/codec-lm/speech/with-end.ts";

/** A tiny codec language model that ends where speech of its text would. */
export async function createModel(
  { folder, places }: { readonly folder: string; readonly places: number },
  guard: NativeCallGuard,
): Promise<SpeechModel> {
  const checkpoint = await readCheckpoint(folder);
  const { signal } = new AbortController();
  const model = await checkpoint.open({
    ...{ threads: 1, precision: "fp32", cacheFolder: "", pace: "throughput" },
    ...{ signal, guard, slots: places },
  });
  return await createSpeechModel(withEnd(model), { voices: {}, language: null, instruct: null });
}

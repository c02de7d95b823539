import type { SpeechModel } from "../../../src/core/speech-model.ts";
import type { RemoteOptions } from "../../../src/engines/remote/dialect.ts";
import { createRemoteModel } from "../../../src/engines/remote/remote-model.ts";

/** A remote model with plain options. */
export function remoteModel(options: Partial<RemoteOptions> & Pick<RemoteOptions, "urls">): SpeechModel {
  return createRemoteModel({
    name: "elsewhere",
    kind: "openai",
    model: "tts-1",
    voices: { "0": "0", "1": "1" },
    format: "wav",
    sampleRateHz: 24_000,
    references: false,
    apiKey: null,
    firstSoundTimeoutMs: 20_000,
    idleTimeoutMs: 20_000,
    ...options,
  });
}

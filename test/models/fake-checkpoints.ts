import type { SpeechModel } from "../../src/core/speech-model.ts";
import type { LoadableCheckpoint } from "../../src/models/checkpoint-cache.ts";
import { EMBEDDED_VOICE_SUPPORT, EMBEDDED_VOICES, type PublicModel } from "../../src/models/public-models.ts";
import { createToneModel } from "../core/tone-model.ts";

/** One instance of a checkpoint, from `load` to the end of `close`. */
export interface Instance {
  readonly checkpoint: string;
  readonly memoryBytes: number;
  readonly model: SpeechModel;
  state: "loading" | "loaded" | "closing" | "gone";
  finishLoad(): void;
  failLoad(error: Error): void;
  finishClose(): void;
}

/** Checkpoints whose loading and closing a test completes. */
export class FakeCheckpoints {
  readonly instances: Instance[] = [];
  onClose = (_instance: Instance): void => {};

  make(name: string, memoryBytes: number): LoadableCheckpoint {
    return { name, memoryBytes, load: () => this.#load(name, memoryBytes) };
  }

  in(state: Instance["state"]): Instance[] {
    return this.instances.filter((instance) => instance.state === state);
  }

  get usedBytes(): number {
    return this.instances.reduce(
      (sum, { state, memoryBytes }) => sum + (state === "gone" ? 0 : memoryBytes),
      0,
    );
  }

  async #load(checkpoint: string, memoryBytes: number): Promise<SpeechModel> {
    let finishLoad = (): void => {};
    let failLoad = (_: Error): void => {};
    let finishClose = (): void => {};
    const loaded = new Promise<void>((resolve, reject) => {
      finishLoad = resolve;
      failLoad = reject;
    });
    const closed = new Promise<void>((resolve) => (finishClose = resolve));
    const tone = await createToneModel();
    const instance: Instance = {
      checkpoint,
      memoryBytes,
      state: "loading",
      finishLoad,
      failLoad,
      finishClose,
      model: {
        speak: (script, signal) => tone.speak(script, signal),
        close: async () => {
          this.onClose(instance);
          instance.state = "closing";
          await closed;
          instance.state = "gone";
        },
      },
    };
    this.instances.push(instance);
    try {
      await loaded;
    } catch (error) {
      instance.state = "gone";
      throw error;
    }
    instance.state = "loaded";
    return instance.model;
  }
}

export function publicModel(id: string, checkpoint: string, isResident = false): PublicModel {
  return {
    card: {
      id,
      displayName: id,
      modes: ["converse", "tts"],
      speakers: ["0", "1"],
      isDefault: isResident,
      description: "",
      voices: EMBEDDED_VOICES,
      takes: EMBEDDED_VOICE_SUPPORT,
    },
    checkpoint,
    preset: { name: id },
    isResident,
  };
}

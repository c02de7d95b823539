import type {
  CodecLanguageModel,
  SpokenFrame,
  StopReason,
  Utterance,
} from "../../../src/engines/codec-lm/codec-language-model.ts";

export interface Spoken {
  readonly codes: readonly (readonly number[])[];
  readonly samples: Float32Array;
  readonly stop: StopReason;
}

export async function spoken(
  model: CodecLanguageModel,
  utterance: Utterance,
  signal = new AbortController().signal,
): Promise<Spoken> {
  const frames: SpokenFrame[] = [];
  const speech = model.speak(utterance, signal);
  let step = await speech.next();
  for (; !step.done; step = await speech.next()) frames.push(step.value);
  return {
    codes: frames.map(({ codes }) => codes),
    samples: Float32Array.from(frames.flatMap(({ samples }) => [...samples])),
    stop: step.value.stop,
  };
}

import type {
  CodecLanguageModel,
  GenerationResult,
  SpokenFrame,
} from "../../../../src/engines/codec-lm/codec-language-model.ts";

/** Makes a tiny model end with its text: by itself it ends by chance or never. One that ends too early starts again. */
export function withEnd(model: CodecLanguageModel): CodecLanguageModel {
  return {
    voices: model.voices,
    async *speak(utterance, signal): AsyncGenerator<SpokenFrame, GenerationResult, void> {
      const frames = Math.ceil(utterance.open.text.length / 6);
      const { maxFrames = Number.POSITIVE_INFINITY } = utterance.sampling;
      for (let given = 0; ; ) {
        const speech = model.speak(utterance, signal);
        let step = await speech.next();
        for (; !step.done; step = await speech.next()) {
          if (given === frames || given === maxFrames) break;
          if (step.value.samples.length === 0) continue;
          given += 1;
          yield step.value;
        }
        await speech.return(NOTHING);
        if (given === frames) return { ...NOTHING, stop: "finished" };
        if (given === maxFrames) return NOTHING;
      }
    },
    close: () => model.close(),
  };
}

const NOTHING: GenerationResult = { stop: "length", readTurns: [], audioTurns: [] };

import { joinSamples } from "../src/audio/pcm.ts";
import type { Script } from "../src/core/script.ts";
import type { SpeechModel, SpeechReport } from "../src/core/speech-model.ts";

/** All that a voice said to a script. */
export interface Speech {
  /** Mono, 24 kHz. */
  readonly samples: Float32Array;
  readonly report: SpeechReport;
}

export async function speechOf(voice: SpeechModel, script: Script): Promise<Speech> {
  const frames: Float32Array[] = [];
  const speech = voice.speak(script, new AbortController().signal);
  for (;;) {
    const next = await speech.next();
    if (next.done) return { samples: joinSamples(frames), report: next.value };
    frames.push(next.value.samples);
  }
}

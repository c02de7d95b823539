import { availableParallelism } from "node:os";
import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { plainScript } from "../plain-script.ts";
import { speechOf } from "../speech-of.ts";
import { SHORT_HISTORIES } from "../writer-server.ts";
import { clipOf } from "./sounds.ts";

/**
 * What somebody says to begin a conversation, by both voices and at several paces, so that no two clips are alike: those
 * of up to `lengthS`, filled up with silence, as long as all that.
 */
export async function spokenOpenings(lengthS: number, count: number): Promise<readonly Clip[]> {
  const voice = await openEmbeddedVoice({ threads: availableParallelism() });
  const length = lengthS * SAMPLE_RATE_HZ;
  const texts = SHORT_HISTORIES.filter((turns) => turns.length === 1).map(([text]) => text!);
  const clips: Clip[] = [];
  try {
    for (const rate of [1, 0.97, 1.04, 1.08, 0.94])
      for (const text of texts)
        for (const speaker of ["0", "1"]) {
          if (clips.length === count) return clips;
          const plain = plainScript(text, speaker);
          const { samples } = await speechOf(voice, { ...plain, preset: { ...plain.preset, rate } });
          if (samples.length > length || samples.length < 0.6 * length) continue;
          const filled = new Float32Array(length);
          filled.set(samples);
          clips.push(clipOf(filled, `${speaker} ${rate} ${text}`, SAMPLE_RATE_HZ));
        }
    return clips;
  } finally {
    await voice.close();
  }
}

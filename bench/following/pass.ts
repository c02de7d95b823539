import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import type { Clip } from "../../src/core/conversation.ts";
import type { Script } from "../../src/core/script.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { harvardSentences, written } from "../harvard.ts";
import { followingScript, plainScript } from "../plain-script.ts";
import { readClip } from "../read-clip.ts";
import type { Reference } from "../references.ts";
import type { Rendering } from "../renderings.ts";
import { speechOf } from "../speech-of.ts";

/** A rendering of which the samples are kept too: mono, 24 kHz. */
export interface HeldRendering extends Rendering {
  readonly samples: Float32Array;
}

/** A person, and how the voice sounds after hearing the clip. */
export interface FollowedSpeech {
  readonly reference: Reference;
  readonly clip: Clip;
  readonly heldOut: Clip;
  readonly spoken: readonly HeldRendering[];
}

/** The same sentences as speaker `0` says them, and as it says them when it follows each person. */
export interface FollowingPass {
  readonly unfollowed: readonly HeldRendering[];
  readonly followed: readonly FollowedSpeech[];
}

/**
 * Has the default model say Harvard sentences at temperature 0 after one turn of recorded speech whose words are not
 * known, person after person.
 *
 * @param sentences how many, spread evenly over the list; none of them is among those that the voice rehearses
 * @param folder where the WAVs go
 */
export async function followEach(
  references: readonly Reference[],
  sentences: number,
  folder: string,
): Promise<FollowingPass> {
  const all = await harvardSentences();
  const chosen = Array.from({ length: sentences }, (_, i) => all[Math.floor((i * all.length) / sentences)]!);
  const voice = await openEmbeddedVoice({ threads: availableParallelism() });
  const say = (name: string, script: (text: string) => Script) =>
    Promise.all(
      chosen.map(async (sentence, index) => {
        const { samples } = await speechOf(voice, script(written(sentence)));
        const path = join(folder, `${name}-${index}.wav`);
        await writeFile(path, encodeWav(toPcm16(samples), SAMPLE_RATE_HZ));
        return { sentence, path, samples };
      }),
    );
  try {
    const unfollowed = await say("unfollowed", (text) => plainScript(text, "0"));
    const followed: FollowedSpeech[] = [];
    for (const reference of references) {
      const [clip, heldOut] = await Promise.all([readClip(reference.clip), readClip(reference.heldOut)]);
      const spoken = await say(reference.name, (text) => followingScript(text, clip));
      followed.push({ reference, clip, heldOut, spoken });
    }
    return { unfollowed, followed };
  } finally {
    await voice.close();
  }
}

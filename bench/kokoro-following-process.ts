import { joinSamples } from "../src/audio/pcm.ts";
import { percentile } from "../src/engines/following/analysis/statistics.ts";
import { createKokoroModel } from "../src/engines/kokoro/model.ts";
import { embeddedCheckpoint } from "../src/models/installed-checkpoint.ts";
import { KOKORO_SPEAKER_VOICES, KOKORO_STARTING_VOICES } from "../src/models/kokoro-voices.ts";
import { asClip, heardIn } from "./following/heard-profile.ts";
import { harvardSentences, written } from "./harvard.ts";
import { followingScript } from "./plain-script.ts";
import { readClip } from "./read-clip.ts";
import type { Reference } from "./references.ts";
import { speechOf } from "./speech-of.ts";

/** Whom Kokoro is to follow. */
export type KokoroReference = Pick<Reference, "name" | "clip" | "transcript">;

/** How near Kokoro came to a person whose words are known: it says what they said, and some Harvard sentences. */
export interface KokoroNearness {
  readonly name: string;
  /** The voice that it set out from. */
  readonly start: string;
  /** Our median pitch above theirs. */
  readonly pitchSemitones: number;
  /** How much longer we took for their words, pauses left out, as a share. */
  readonly pace: number;
  /** Our loudness above theirs. */
  readonly levelLu: number;
}

const SENTENCES = 3;
const [, , folder = "", given = "[]"] = process.argv;

const model = await createKokoroModel({
  folder,
  voiceDir: embeddedCheckpoint.dir,
  labels: KOKORO_SPEAKER_VOICES,
  starts: KOKORO_STARTING_VOICES,
});
const sentences = (await harvardSentences()).slice(0, SENTENCES).map(written);
for (const { name, clip: path, transcript } of JSON.parse(given) as readonly KokoroReference[]) {
  const clip = await readClip(path);
  const said = transcript ?? sentences.join(" ");
  const theirs = heardIn(clip);
  const same = await speechOf(model, followingScript(said, clip, transcript));
  const more = await speechOf(model, followingScript(sentences.join(" "), clip, transcript));
  const ours = heardIn(asClip(same.samples));
  const both = heardIn(asClip(joinSamples([same.samples, more.samples])));
  const nearness: KokoroNearness = {
    name,
    start: same.report.voice?.start ?? "",
    pitchSemitones: (12 / Math.LN2) * (percentile(both.pitch, 0.5) - percentile(theirs.pitch, 0.5)),
    pace: transcript === null ? 0 : ours.speechS / theirs.speechS - 1,
    levelLu: (both.loudnessLufs ?? 0) - (theirs.loudnessLufs ?? 0),
  };
  process.stdout.write(`${JSON.stringify(nearness)}\n`);
}
await model.close();

import { join } from "node:path";
import type { Clip } from "../../src/core/conversation.ts";
import { debianRecordings } from "../debian-recordings.ts";
import { babble } from "../hearing/babble.ts";
import { MADE_MUSIC } from "../hearing/made-music.ts";
import { NOISES } from "../hearing/noises.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { RECORDED_SOUNDS } from "../hearing/recorded-sounds.ts";
import { clipOf } from "../hearing/sounds.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { readClip } from "../read-clip.ts";
import type { Bench, Row } from "../row.ts";

/**
 * 33 noises and eight pieces of music by formula (`bench/hearing/noises.ts`, `made-music.ts`), babble of 12
 * to 48 of our voices, voices backwards, and 24 recordings from Debian's packages.
 */
export const hearingNotSpeech: Row = {
  id: "hearing-not-speech",
  what: "clips without speech that are given words: noises and signals; music by formula; 12 people and more at once, and backwards; recorded music and sounds",
  goal: "none",
  measure: (bench) =>
    withRecogniser(async (hears) => {
      const counts: string[] = [];
      let given = 0;
      for (const [kind, clips] of Object.entries(await soundsWithoutSpeech(bench))) {
        let own = 0;
        for (const clip of clips) {
          const { text, speechProbability, meanLogProbability } = await hears(clip);
          if (text === "") continue;
          own++;
          const sure = `speech ${speechProbability?.toFixed(2)}, words ${meanLogProbability?.toFixed(2)}`;
          bench.note(`${kind}, ${clip.digest}: "${text}" (${sure})`);
        }
        given += own;
        counts.push(`${kind} ${own} of ${clips.length}`);
      }
      return { measured: counts.join(", "), isMet: given === 0 };
    }),
};

async function soundsWithoutSpeech(bench: Bench): Promise<Readonly<Record<string, readonly Clip[]>>> {
  const made = (sounds: Readonly<Record<string, () => Float32Array>>) =>
    Object.entries(sounds).map(([name, make]) => clipOf(make(), name));
  const people = Object.entries(await babble(bench.renderings));
  return {
    noises: made(NOISES),
    "made music": made(MADE_MUSIC),
    people: people.map(([name, samples]) => clipOf(samples, name)),
    recorded: await recorded(bench),
  };
}

async function recorded({ python, note }: Bench): Promise<readonly Clip[]> {
  try {
    const folder = await debianRecordings("hearing-sounds", RECORDED_SOUNDS, python, note);
    return await Promise.all(
      RECORDED_SOUNDS.map(async ({ name }) => ({
        ...(await readClip(join(folder, `${name}.wav`))),
        digest: name,
      })),
    );
  } catch (error) {
    if (!(error instanceof NotMeasuredError)) throw error;
    note(error.message);
    return [];
  }
}

import { join } from "node:path";
import type { Clip } from "../../src/core/conversation.ts";
import { debianRecordings, type WantedRecording } from "../debian-recordings.ts";
import { CLIPS_WITH_WORDS } from "../hearing/human-clips.ts";
import { readClip } from "../read-clip.ts";
import type { Bench } from "../row.ts";

/** Somebody's turn, cut to where speech begins and ends. */
export interface Turn extends Clip {
  /** The longest stretch without speech within it, in seconds. */
  readonly pauseS: number;
}

/** Prompts of several sentences with a pause of 0.2 s and more between them. Chosen by length and pause before any was heard. */
const WITH_PAUSES = [
  "agent-incorrect",
  "agent-user",
  "conf-invalid",
  "confbridge-lock-extended",
  "confbridge-mute-extended",
  "demo-enterkeywords",
  "demo-thanks",
  "dictate/both_help",
  "dictate/play_help",
  "dictate/record_help",
  "dir-intro-fn",
  "pbx-invalid",
  "priv-introsaved",
  "vm-instructions",
  "vm-invalid-password",
  "vm-mismatch",
  "vm-opts",
  "vm-rec-temp",
  "vm-record-prepend",
  "vm-review",
  "vm-saveoper",
];

/** English prompts of one and of several sentences, a phrase, a radio: not the lines of a reading, which end in mid-sentence, nor those whose noise hides where speech ends. */
const WANTED: readonly WantedRecording[] = [
  ...CLIPS_WITH_WORDS.filter(({ name }) => !/^(librivox|cards|dhd)-/.test(name)),
  ...WITH_PAUSES.map((prompt) => ({
    name: `allison-${prompt.replace("/", "-")}`,
    package: "asterisk-core-sounds-en-g722",
    pieces: [{ path: `asterisk/sounds/en_US_f_Allison/${prompt}.g722` }],
  })),
];

const LENGTHS_S = { minimum: 1.5, maximum: 12 };
const FRAME_S = 0.01;
/** Below the clip's own loudest tenth of a second, in decibels: no speech. */
const QUIET_DB = -35;

/** What people say to a session: human recordings, without the silence around them. @throws NotMeasuredError */
export async function humanTurns({ python, note }: Bench): Promise<readonly Turn[]> {
  const folder = await debianRecordings("realtime-people", WANTED, python, note);
  const clips = await Promise.all(
    WANTED.map(async ({ name }) => ({ ...(await readClip(join(folder, `${name}.wav`))), digest: name })),
  );
  return clips
    .map(asTurn)
    .filter(({ durationS }) => durationS >= LENGTHS_S.minimum && durationS <= LENGTHS_S.maximum);
}

function asTurn(clip: Clip): Turn {
  const size = Math.round(FRAME_S * clip.sampleRateHz);
  const levels = Array.from({ length: Math.floor(clip.samples.length / size) }, (_, at) =>
    Math.hypot(...clip.samples.subarray(at * size, (at + 1) * size)),
  );
  const least = Math.max(...levels) * 10 ** (QUIET_DB / 20);
  const loud = levels.flatMap((level, at) => (level >= least ? [at] : []));
  const [first = 0, last = levels.length - 1] = [loud[0], loud.at(-1)];
  const gaps = loud.slice(1).map((at, index) => at - loud[index]! - 1);
  const samples = clip.samples.slice(first * size, (last + 1) * size);
  return {
    ...clip,
    samples,
    durationS: samples.length / clip.sampleRateHz,
    pauseS: FRAME_S * Math.max(0, ...gaps),
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Clip } from "../../src/core/conversation.ts";
import { BOMBS } from "../../test/audio/recordings/bombs.ts";
import { type HearingServer, startHearingServer, wavOf } from "../hearing/hearing-server.ts";
import { talkOf } from "../hearing/long-talk.ts";
import { median } from "../load/percentile.ts";
import { LONG_SPEECH } from "../recordings/long-speech.ts";
import { type UploadStatus, upload } from "../recordings/upload.ts";
import type { Bench, Row } from "../row.ts";

/**
 * A key sends clips of 5 s, a quarter of a second apart: for 20 s alone; for up to 90 s beside 25 minutes of
 * MP3 and FLAC (23 MB each); for 45 s beside five decompression bombs (`test/audio/recordings/bombs.ts`);
 * and after four clients left. Each case has its own server.
 */
export const recordingsBeside: Row = {
  id: "recordings-beside",
  what:
    "a spoken clip of 5 s to its words, at worst: alone; beside another key's 25 minutes of MP3, of FLAC, with which a " +
    "WAV of 30 s and a conversation that has one come too; beside five keys' files that ask for much; after four who left",
  goal: "≤ 3 s, all answered 200",
  async measure(bench) {
    const clips = await talkOf(bench.renderings, "1", 5, 40);
    const cases = await casesOf(bench);
    const found: Found[] = [];
    for (const one of cases) {
      // Each has a server of its own: one may have much to do when the clients of another case have gone.
      const server = await startHearingServer({ keys: KEYS });
      try {
        const result = await heardBeside(server, one, clips);
        found.push(result);
        bench.note(`${one.name}: ${described(result)}, ${toldOf(result)}`);
      } finally {
        await server.stop();
      }
    }
    return {
      measured: found.map((one, at) => `${cases[at]!.name} ${described(one)}`).join("; "),
      isMet: found.every(({ timesS, refused }) => refused.length === 0 && Math.max(...timesS) <= GOAL_S),
    };
  },
};

const KEYS = 5;
const GOAL_S = 3;
/** Somebody who has waited so long for a clip has left. */
const MAX_WAIT_MS = 60_000;
const BETWEEN_MS = 250;

interface Case {
  readonly name: string;
  /** What other keys send, one file each, at the same time. */
  readonly others: readonly Uint8Array[];
  /** When they leave, in milliseconds; null: they wait for an answer. */
  readonly leaveAfterMs: number | null;
  /** From when on clips are heard beside them, and for how long, unless the others' files are over before. */
  readonly fromMs: number;
  readonly maxMs: number;
  /** What else the key of the clips asks for. */
  readonly long: Clip | null;
}

async function casesOf({ isQuick, renderings }: Bench): Promise<readonly Case[]> {
  const [[talk], [long]] = await Promise.all([
    talkOf(renderings, "0", 20, 1),
    talkOf(renderings, "1", 30, 1),
  ]);
  const usual = { others: [], leaveAfterMs: null, fromMs: 500, long: null };
  const longMs = isQuick ? 20_000 : 90_000;
  const bombs = Object.values(BOMBS).map((make) => make());
  const wide = BOMBS["FLAC of 8 channels at 1,048,575 Hz"]();
  const repeats = isQuick ? 1 : 2;
  return [
    { ...usual, name: "alone", maxMs: isQuick ? 5_000 : 20_000 },
    { ...usual, name: "beside MP3", others: [await LONG_SPEECH.MP3(talk!)], maxMs: longMs, long: long! },
    { ...usual, name: "beside FLAC", others: [await LONG_SPEECH.FLAC(talk!)], maxMs: longMs, long: long! },
    ...Array<Case>(repeats).fill({ ...usual, name: "beside bombs", others: bombs, maxMs: longMs / 2 }),
    ...Array<Case>(repeats).fill({
      ...usual,
      name: "after four",
      others: [wide, wide, wide, wide],
      leaveAfterMs: 1_500,
      fromMs: 1_600,
      maxMs: isQuick ? 5_000 : 20_000,
    }),
  ];
}

interface Found {
  /** Of the clips of 5 s, however they ended. */
  readonly timesS: readonly number[];
  /** What was not answered with 200, with its status, or `late`. */
  readonly refused: readonly string[];
  /** How the others' uploads ended, as far as they did. */
  readonly others: readonly UploadStatus[];
  /** What else was asked for, as described. */
  readonly more: string;
}

async function heardBeside(server: HearingServer, one: Case, clips: readonly Clip[]): Promise<Found> {
  const { url, key, keys } = server;
  const ended: UploadStatus[] = [];
  const uploads = one.others.map(async (bytes, index) => {
    ended.push(await upload({ url, key: keys[index]!, bytes, leaveAfterMs: one.leaveAfterMs }));
  });
  let areOver = false;
  // Of those who left, the server may still have something to do.
  if (uploads.length > 0 && one.leaveAfterMs === null) {
    void Promise.all(uploads).then(() => {
      areOver = true;
    });
  }
  await sleep(one.fromMs);
  const begunMs = performance.now();
  const more = one.long === null ? null : longOnes(server, one.long);
  const [timesS, refused]: [number[], string[]] = [[], []];
  do {
    const bytes = wavOf(clips[timesS.length % clips.length]!);
    const askedMs = performance.now();
    const status = await upload({ url, key, bytes, leaveAfterMs: MAX_WAIT_MS });
    timesS.push((performance.now() - askedMs) / 1_000);
    if (status !== 200) refused.push(status === null ? "late" : `${status}`);
    await sleep(BETWEEN_MS);
  } while (!areOver && performance.now() - begunMs < one.maxMs);
  const answers = (await more) ?? [];
  const failed = answers.filter(({ status }) => status !== 200);
  return {
    timesS,
    refused: [...refused, ...failed.map(({ name, status }) => `${name} ${status ?? "late"}`)],
    others: [...ended],
    more: answers
      .map(({ name, status, tookS }) => `${name} ${status ?? "late"} after ${tookS.toFixed(1)} s`)
      .join(", "),
  };
}

interface Answer {
  readonly name: string;
  /** Null where none came in time. */
  readonly status: number | null;
  readonly tookS: number;
}

/** A recording, and a turn that follows the same recording, of a key that has nothing else. */
async function longOnes({ url, keys }: HearingServer, clip: Clip): Promise<readonly Answer[]> {
  const key = keys.at(-1)!;
  const bytes = wavOf(clip);
  const conversation = [
    { speaker: "0", audio_wav_b64: Buffer.from(bytes).toString("base64") },
    { speaker: "1", text: "Of course." },
  ];
  const converse = async (): Promise<number | null> => {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    const asked = fetch(`${url}/v1/converse`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ conversation }),
      signal,
    });
    return asked.then(
      async (reply) => {
        await reply.arrayBuffer();
        return reply.status;
      },
      () => null,
    );
  };
  return Promise.all([
    answerOf("WAV of 30 s", () => upload({ url, key, bytes, leaveAfterMs: MAX_WAIT_MS })),
    answerOf("conversation", converse),
  ]);
}

async function answerOf(name: string, ask: () => Promise<number | null>): Promise<Answer> {
  const askedMs = performance.now();
  const status = await ask();
  return { name, status, tookS: (performance.now() - askedMs) / 1_000 };
}

function described({ timesS, refused, more }: Found): string {
  const [worst, middle] = [Math.max(...timesS).toFixed(2), median(timesS).toFixed(2)];
  const failures = refused.length === 0 ? "" : `, not 200: ${refused.join(", ")}`;
  return `${worst} s (median ${middle} s of ${timesS.length}${more === "" ? "" : `; ${more}`})${failures}`;
}

function toldOf({ others }: Found): string {
  return `the others were answered ${others.map((status) => status ?? "(left)").join(", ") || "not yet"}`;
}

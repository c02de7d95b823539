import { setTimeout as sleep } from "node:timers/promises";
import { withRecogniser } from "../hearing/recogniser.ts";
import { clipOf } from "../hearing/sounds.ts";
import { percentile } from "../load/percentile.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { humanTurns, type Turn } from "../realtime/people.ts";
import { withScriptedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { type HeardReply, SimulatedUser } from "../realtime/simulated-user.ts";
import type { Bench, Row } from "../row.ts";

/** Long enough that nobody hears it to its end. */
const REPLY =
  "The old harbour is full of small boats in the morning. Some of them bring fish from the northern islands. " +
  "A narrow street leads up to the market, and every house in it has another colour. My sister had a shop there. " +
  "She sold bread, apples and coffee to people who came from the ferry.";

/**
 * 60 interruptions of a reply of 20 s, 0.5 to 4 s after playback began. The player begins with 200 ms and
 * stops at `speech_started`. Half are reported by `conversation.item.truncate`, the others estimated by the
 * server. Played words are those that the recogniser finds in the received audio.
 */
export const realtimeBargeIn: Row = {
  id: "realtime-barge-in",
  what: "realtime session, a person speaks into a reply: onset of speech to the last audio that still came; to `speech_started`; interruptions after which the history has, within one word, what was heard",
  goal: "p90 ≤ 250 ms; –; ≥ 95 %",
  async measure(bench) {
    const turns = (await humanTurns(bench)).filter(({ durationS }) => durationS <= 5);
    const seed = seedOf(bench);
    const cuts = await withScriptedWriter(REPLY, (server) => interrupt(server, turns, seed, bench));
    const near = await nearOf(cuts, bench);
    const lastMs = cuts.map(({ lastDeltaMs }) => lastDeltaMs);
    const startedMs = cuts.map(({ startedMs: ms }) => ms);
    const p90 = percentile(lastMs, 0.9);
    return {
      measured:
        `p50 ${percentile(lastMs, 0.5).toFixed(0)} ms, p90 ${p90.toFixed(0)} ms; ` +
        `p50 ${percentile(startedMs, 0.5).toFixed(0)} ms, p90 ${percentile(startedMs, 0.9).toFixed(0)} ms; ` +
        `${near} of ${cuts.length}`,
      isMet: p90 <= 250 && near >= 0.95 * cuts.length,
    };
  },
};

/** A reply that was interrupted. */
interface Cut {
  /** From the onset of speech to its last piece; 0 where that had come before. */
  readonly lastDeltaMs: number;
  readonly startedMs: number;
  /** What had been played when the client was told. */
  readonly heardMs: number;
  readonly reply: HeardReply;
  /** What the history says of it. */
  readonly history: string;
  readonly isToldByClient: boolean;
}

/** Each interruption is the turn that the next reply answers. */
async function interrupt(
  { url, key }: ServerProcess,
  turns: readonly Turn[],
  seed: number,
  { isQuick, note }: Bench,
): Promise<readonly Cut[]> {
  const user = await SimulatedUser.open({ url, key, seed });
  const cuts: Cut[] = [];
  let missed = 0;
  try {
    const one = (): Turn => turns[Math.floor(user.random.uniform() * turns.length)]!;
    await user.say(one());
    while (cuts.length < (isQuick ? 8 : 60) && missed < 10) {
      // One that was withdrawn, because the user had not finished, is nothing to speak into.
      const isPlayed = () => {
        const last = user.replies.at(-1);
        return last !== undefined && last.playedFromMs !== null && last.status !== "cancelled";
      };
      if (!(await user.until(isPlayed, 12_000))) {
        missed += 1;
        await user.say(one());
        continue;
      }
      await sleep(500 + 3_500 * user.random.uniform());
      if (!isPlayed()) continue;
      const reply = user.replies.at(-1)!;
      const { beganMs } = await user.say(one());
      const started = user.since("input_audio_buffer.speech_started", beganMs);
      if (started === undefined || reply.status !== "cancelled") {
        missed += 1;
        continue;
      }
      const heardMs = Math.min(started.atMs - reply.playedFromMs!, reply.soundMs);
      const isToldByClient = user.random.uniform() < 0.5;
      const item_id = reply.itemId!;
      if (isToldByClient) {
        const audio_end_ms = Math.round(heardMs);
        user.send({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms });
      }
      const askedMs = performance.now();
      user.send({ type: "conversation.item.retrieve", item_id });
      await user.until(() => user.since("conversation.item.retrieved", askedMs) !== undefined, 5_000);
      cuts.push({
        lastDeltaMs: Math.max(0, reply.lastDeltaMs! - beganMs),
        startedMs: started.atMs - beganMs,
        heardMs,
        reply,
        history: transcriptIn(user.since("conversation.item.retrieved", askedMs)?.event),
        isToldByClient,
      });
    }
  } finally {
    await user.close();
  }
  note(`${cuts.length} interruptions, ${missed} that did not come about`);
  if (cuts.length === 0) throw new Error("no reply was interrupted");
  return cuts;
}

function transcriptIn(event: Readonly<Record<string, unknown>> | undefined): string {
  const item = event?.item as { readonly content?: readonly { readonly transcript?: string }[] } | undefined;
  return item?.content?.[0]?.transcript ?? "";
}

/** How many histories have as many words as were heard by the recogniser's times, or one more, or one less. */
async function nearOf(cuts: readonly Cut[], { note }: Bench): Promise<number> {
  return withRecogniser(async (hears) => {
    let near = 0;
    for (const { reply, heardMs, history, isToldByClient } of cuts) {
      const pcm = Buffer.concat(reply.pieces);
      const samples = Float32Array.from(
        { length: pcm.length >> 1 },
        (_, at) => pcm.readInt16LE(2 * at) / 32_768,
      );
      const { segments } = await hears(clipOf(samples, reply.id, 24_000), true);
      const words = segments.flatMap((segment) => segment.words ?? []);
      const heard = words.filter(({ endS }) => 1_000 * endS <= heardMs).length;
      const told = history.split(/\s+/).filter(Boolean).length;
      if (Math.abs(told - heard) <= 1) near += 1;
      else {
        const how = isToldByClient ? "told" : "reckoned";
        const ms = `${heardMs.toFixed(0)} of ${reply.soundMs.toFixed(0)} ms`;
        note(`${told} words in the history, ${heard} of ${words.length} heard (${how}, ${ms})`);
      }
    }
    return near;
  });
}

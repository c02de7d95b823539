import { setTimeout as sleep } from "node:timers/promises";
import type { Turn } from "./people.ts";
import type { SimulatedUser } from "./simulated-user.ts";

/** What became of a turn that somebody spoke. */
export interface Exchange {
  /** From the end of speech to the reply's first sound; `null` where none came, or it came before. */
  readonly firstAudioMs: number | null;
  /** The server took the turn for ended while its speaker went on. */
  readonly isEndedEarly: boolean;
  /** A reply was even heard then. */
  readonly isCutShort: boolean;
  readonly underruns: number;
}

const MAX_WAIT_MS = 12_000;

/** Somebody speaks, whatever comes meanwhile, and listens to the reply to its end. */
export async function exchange(user: SimulatedUser, turn: Turn): Promise<Exchange> {
  const firstReply = user.replies.length;
  const { beganMs, endedMs } = await user.say(turn);
  const own = () => user.replies.slice(firstReply);
  const soundAfter = () => user.since("response.output_audio.delta", endedMs);
  await user.until(() => soundAfter() !== undefined, MAX_WAIT_MS);
  const isOver = () => own().every(({ status }) => status !== null);
  await user.until(isOver, 60_000);
  const last = own().findLast(({ soundMs }) => soundMs > 0);
  if (last !== undefined) await sleep(Math.max(0, user.playedAtMs(last) - performance.now()));
  const isCutShort = own().some(({ firstDeltaMs }) => firstDeltaMs !== null && firstDeltaMs < endedMs);
  const stopped = user.since("input_audio_buffer.speech_stopped", beganMs);
  const first = soundAfter();
  return {
    firstAudioMs: isCutShort || first === undefined ? null : first.atMs - endedMs,
    isEndedEarly: stopped !== undefined && stopped.atMs < endedMs,
    isCutShort,
    underruns: own().reduce((sum, reply) => sum + reply.underruns, 0),
  };
}

/** One turn after the other, a pause of 0.3 to 1 s between them, until there were so many, or the time is over. */
export async function converse(
  user: SimulatedUser,
  turns: readonly Turn[],
  { count = Number.POSITIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY },
): Promise<readonly Exchange[]> {
  const found: Exchange[] = [];
  while (found.length < count && performance.now() < untilMs) {
    await sleep(300 + 700 * user.random.uniform());
    found.push(await exchange(user, turns[Math.floor(user.random.uniform() * turns.length)]!));
  }
  return found;
}

/** Times to first audio, of those turns that were answered after their end. */
export function firstAudiosOf(exchanges: readonly Exchange[]): readonly number[] {
  return exchanges.flatMap(({ firstAudioMs }) => firstAudioMs ?? []);
}

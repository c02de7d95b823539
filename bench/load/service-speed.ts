import { type LoadJob, type LoadResult, runLoad } from "./load-job.ts";
import type { ServerProcess } from "./server-process.ts";

/** One client after ten requests to warm up: ten words a request, each stream read to its end as fast as it comes. */
export async function oneClient(server: ServerProcess, requests: number): Promise<readonly LoadResult[]> {
  await runLoad({ ...tenWords(server, 1), requests: 10 });
  return runLoad({ ...tenWords(server, 1), requests });
}

/** Ten words a request, over and over, read as fast as they come. */
export function tenWords(server: ServerProcess, clients: number): LoadJob {
  return {
    url: server.url,
    key: server.key,
    path: "/v1/converse/stream",
    bodies: TEN_WORDS.map(converseBody),
    clients,
    pace: "at once",
    pauseMs: { start: 0, between: 0 },
    seed: 1,
  };
}

/** Whether `clients` who play one turn after the other in real time all heard every frame in time. */
export async function holdsStreams(
  server: ServerProcess,
  clients: number,
  durationMs: number,
): Promise<Held> {
  const utterances = await runLoad({
    ...tenWords(server, clients),
    bodies: TURNS.map(converseBody),
    pace: "real time",
    pauseMs: { start: startWithinMs(durationMs), between: 0 },
    durationMs: durationMs + startWithinMs(durationMs),
    seed: clients,
  });
  return heldOf(utterances);
}

/** How a number of streams fared. */
export interface Held {
  /** No underrun, no failure, and nobody waited more than a second for the first audio. */
  readonly isHeld: boolean;
  readonly underruns: number;
  readonly frames: number;
  readonly failures: number;
  readonly worstFirstAudioMs: number;
}

export function heldOf(utterances: readonly LoadResult[]): Held {
  const sum = (of: (utterance: LoadResult) => number) =>
    utterances.reduce((total, utterance) => total + of(utterance), 0);
  const underruns = sum((utterance) => utterance.underruns);
  const failures = sum(({ failure }) => (failure === null ? 0 : 1));
  const frames = sum((utterance) => utterance.frames);
  const worstFirstAudioMs = Math.max(0, ...utterances.map(({ firstAudioMs }) => firstAudioMs ?? 0));
  const isHeld = frames > 0 && underruns === 0 && failures === 0 && worstFirstAudioMs <= MAX_SILENCE_MS;
  return { isHeld, underruns, frames, failures, worstFirstAudioMs };
}

/** Streams that are then heard for `durationMs` begin at random within this time, in milliseconds. */
function startWithinMs(durationMs: number): number {
  return Math.min(2_000, durationMs);
}

const MAX_SILENCE_MS = 1_000;

/** Tries ever more streams until they are not held. @returns the most that were, and how each number fared. */
export async function maxHeld(
  steps: readonly number[],
  isHeld: (streams: number) => Promise<Held>,
): Promise<{ readonly most: number; readonly tried: ReadonlyMap<number, Held> }> {
  const tried = new Map<number, Held>();
  let most = 0;
  for (const streams of steps) {
    const held = await isHeld(streams);
    tried.set(streams, held);
    if (!held.isHeld) break;
    most = streams;
  }
  return { most, tried };
}

/** Sentences of exactly ten words, said by one person to another. */
export const TEN_WORDS: readonly string[] = [
  "I think we should leave before the rain gets worse.",
  "She told me that the meeting was moved to Friday.",
  "Could you send me the report when you get home?",
  "The train was late again, so I missed the start.",
  "We finally found a flat that has enough light inside.",
  "My brother plays the drums in a band near here.",
  "Let me know if anything changes before we get there.",
  "They opened a new bakery right next to the station.",
  "You can always ask me when something is not clear.",
  "It took almost three hours to drive through the city.",
  "The soup needs a little more salt and some pepper.",
  "He said he would call us back in the morning.",
  "Nobody expected that the old bridge would hold so long.",
  "Please put the kettle on while I feed the cat.",
  "What a lovely garden, did you plant all this yourself?",
  "I have never seen so many stars in one night.",
  "The doctor asked how often I go for a walk.",
  "If you turn left here, the museum is straight ahead.",
  "Our neighbours are travelling through Portugal for the whole summer.",
  "That book was better than the film, do you agree?",
];

/** Turns of a conversation, of five to ten seconds each. */
export const TURNS: readonly string[] = pairs(TEN_WORDS);

/** A sentence, and the one that comes seven later, so that neighbours never meet. */
function pairs(sentences: readonly string[]): string[] {
  return sentences.map((first, index) => `${first} ${sentences[(index + 7) % sentences.length]}`);
}

/** The body of `POST /v1/converse/stream` that has the open turn say `text`, with the defaults of everything. */
export function converseBody(text: string): string {
  return JSON.stringify({ conversation: [{ speaker: "0", text }] });
}

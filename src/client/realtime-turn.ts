import type { Word } from "./replies.ts";

/** Plays one reply while it comes: a `Player` of `antiphon/client/player` is one. */
export interface ReplyPlayer {
  /** Seconds of it heard so far. */
  readonly positionS: number;
  add(pcm: Int16Array): void;
  /** No more of it will come. */
  complete(): void;
  /** Silences it at once. */
  stop(): void;
}

/** What a player calls. */
export interface ReplyPlayerEvents {
  readonly onPosition: (seconds: number) => void;
  /** All of it was heard, or it was stopped. */
  readonly onEnd: () => void;
}

/** A reply that has begun while the one before is heard, with the sound that has come. */
interface Waiting<T> {
  readonly turn: T;
  readonly frames: Int16Array[];
  isComplete: boolean;
}

interface PlaybackOptions<T> {
  readonly openPlayer: (events: ReplyPlayerEvents) => ReplyPlayer;
  readonly onPosition: (turn: T, seconds: number) => void;
  /** A reply was heard to its end. */
  readonly onHeard: (turn: T) => void;
}

/** Plays replies one after the other, each while it comes. */
export class ReplyPlayback<T extends RealtimeTurn> {
  readonly #options: PlaybackOptions<T>;
  readonly #waiting: Waiting<T>[] = [];
  #now: { readonly turn: T; readonly player: ReplyPlayer } | null = null;

  constructor(options: PlaybackOptions<T>) {
    this.#options = options;
  }

  /** The reply that is heard. */
  get turn(): T | null {
    return this.#now?.turn ?? null;
  }

  /** Whether it is heard, or will be. */
  has(turn: T): boolean {
    return this.#now?.turn === turn || this.#waiting.some((each) => each.turn === turn);
  }

  add(turn: T, pcm: Int16Array): void {
    if (this.#now === null) this.#play(turn);
    if (this.#now?.turn === turn) {
      this.#now.player.add(pcm);
      return;
    }
    const waiting = this.#waiting.find((each) => each.turn === turn);
    if (waiting) waiting.frames.push(pcm);
    else this.#waiting.push({ turn, frames: [pcm], isComplete: false });
  }

  /** No more of that reply will come. */
  complete(id: string): void {
    const waiting = this.#waiting.find(({ turn }) => turn.id === id);
    if (waiting) waiting.isComplete = true;
    else if (this.#now?.turn.id === id) this.#now.player.complete();
  }

  /** Silences everything; returns what was not heard to its end, with the seconds that were. */
  silence(): readonly (readonly [T, number])[] {
    const cut: [T, number][] = this.#waiting.splice(0).map(({ turn }) => [turn, 0]);
    if (this.#now === null) return cut;
    const { turn, player } = this.#now;
    this.#now = null;
    const heardS = player.positionS;
    player.stop();
    return [[turn, heardS], ...cut];
  }

  #play(turn: T): void {
    const { openPlayer, onPosition, onHeard } = this.#options;
    const player = openPlayer({
      onPosition: (seconds) => onPosition(turn, seconds),
      onEnd: () => {
        if (this.#now?.player !== player) return;
        this.#now = null;
        this.#playNext();
        onHeard(turn);
      },
    });
    this.#now = { turn, player };
  }

  #playNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    for (const frame of next.frames) this.add(next.turn, frame);
    if (next.isComplete) this.complete(next.turn.id);
  }
}

/** Something that was said in a realtime conversation. */
export interface RealtimeTurn {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** What is said, as far as it is known. */
  readonly text: string;
  /**
   * `speaking`: it goes on; `recognising`: the user has ended, and the words are to come; `done`; `interrupted`: a reply that
   * was not heard to its end.
   */
  readonly state: "speaking" | "recognising" | "done" | "interrupted";
  /** Of a reply, where the server tells: its words with their times. */
  readonly words: readonly Word[];
  /** Of a reply: milliseconds of its sound that have come, and whether that is all. */
  readonly soundMs: number;
  readonly isWhole: boolean;
  /** Of a reply: milliseconds from the end of what it answers to its first sound, or null where that is not known. */
  readonly latencyMs: number | null;
  /** Of a reply: seconds that were heard before it was interrupted; null of all others. */
  readonly heardS: number | null;
}

/** A turn as it is made. */
export type OpenTurn = { -readonly [Name in keyof RealtimeTurn]: RealtimeTurn[Name] } & { words: Word[] };

export function newTurn(
  id: string,
  role: RealtimeTurn["role"],
  state: RealtimeTurn["state"],
  text: string = "",
): OpenTurn {
  return { id, role, text, state, words: [], soundMs: 0, isWhole: false, latencyMs: null, heardS: null };
}

/** What was heard of a turn, which is what the server's history keeps of it (`realtime/spoken-reply.ts` has the same rule). */
export function heardText({ text, heardS, words, soundMs, isWhole }: RealtimeTurn): string {
  if (heardS === null) return text;
  const heardMs = Math.floor(Math.min(Math.floor(1_000 * heardS), soundMs));
  const hasWords = words.length > 0;
  if (heardMs >= soundMs && (isWhole || !hasWords)) return text;
  const letters = Array.from(text);
  if (!hasWords) {
    const share = letters.slice(0, Math.floor((letters.length * heardMs) / soundMs)).join("");
    return share.slice(0, Math.max(0, share.lastIndexOf(" ")));
  }
  const last = words.findLast(({ end }) => Math.round(1_000 * end) <= heardMs);
  if (last === undefined) return "";
  // What is written right behind a word belongs to it: a comma, a full stop.
  let end = last.offset + last.length;
  while (end < letters.length && /[^\s\p{L}\p{N}]/u.test(letters[end]!)) end += 1;
  return letters.slice(0, end).join("");
}

import type { Word } from "./replies.ts";

/** Plays one reply while it arrives. The `Player` of `antiphon/client/player` fits. */
export interface ReplyPlayer {
  /** Seconds played so far. */
  readonly positionS: number;
  add(pcm: Int16Array): void;
  complete(): void;
  stop(): void;
}

export interface ReplyPlayerEvents {
  readonly onPosition: (seconds: number) => void;
  /** Called when the reply was played or stopped. */
  readonly onEnd: () => void;
}

/** A reply that arrives while the previous one plays. */
interface Waiting<T> {
  readonly turn: T;
  readonly frames: Int16Array[];
  isComplete: boolean;
}

interface PlaybackOptions<T> {
  readonly openPlayer: (events: ReplyPlayerEvents) => ReplyPlayer;
  readonly onPosition: (turn: T, seconds: number) => void;
  readonly onHeard: (turn: T) => void;
}

/** Plays replies one after another, each while it arrives. */
export class ReplyPlayback<T extends RealtimeTurn> {
  readonly #options: PlaybackOptions<T>;
  readonly #waiting: Waiting<T>[] = [];
  #now: { readonly turn: T; readonly player: ReplyPlayer } | null = null;

  constructor(options: PlaybackOptions<T>) {
    this.#options = options;
  }

  get turn(): T | null {
    return this.#now?.turn ?? null;
  }

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

  complete(id: string): void {
    const waiting = this.#waiting.find(({ turn }) => turn.id === id);
    if (waiting) waiting.isComplete = true;
    else if (this.#now?.turn.id === id) this.#now.player.complete();
  }

  /** Silences everything. Returns the unfinished replies with the seconds played. */
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

export interface RealtimeTurn {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** The text, as far as it is known. */
  readonly text: string;
  /**
   * `speaking`: in progress; `recognising`: the user has stopped, and the transcript is pending; `done`;
   * `interrupted`: a reply that was not played to its end.
   */
  readonly state: "speaking" | "recognising" | "done" | "interrupted";
  /** Timed words of a reply, where the server sends them. */
  readonly words: readonly Word[];
  /** Milliseconds of a reply's audio received, and whether that is all. */
  readonly soundMs: number;
  readonly isWhole: boolean;
  /** Milliseconds from the end of the user's turn to the first audio of the reply; null if unknown. */
  readonly latencyMs: number | null;
  /** Seconds of a reply played before it was interrupted; otherwise null. */
  readonly heardS: number | null;
}

export type OpenTurn = { -readonly [Name in keyof RealtimeTurn]: RealtimeTurn[Name] } & { words: Word[] };

export function newTurn(
  id: string,
  role: RealtimeTurn["role"],
  state: RealtimeTurn["state"],
  text: string = "",
): OpenTurn {
  return { id, role, text, state, words: [], soundMs: 0, isWhole: false, latencyMs: null, heardS: null };
}

/**
 * Returns the text of a turn that was played, as the server's history keeps it (`api/realtime/output-audio.ts` has
 * the same rule).
 */
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
  // Punctuation after a word belongs to it.
  let end = last.offset + last.length;
  while (end < letters.length && /[^\s\p{L}\p{N}]/u.test(letters[end]!)) end += 1;
  return letters.slice(0, end).join("");
}

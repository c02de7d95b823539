import type { RealtimeTurn } from "./realtime-turn.ts";

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

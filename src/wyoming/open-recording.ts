import type { RequestContext } from "../requests/request-context.ts";
import type { WyomingEvent } from "./event.ts";
import type { Standing } from "./giving-way.ts";
import { Recording } from "./recording.ts";
import type { WyomingDeps } from "./requests.ts";

/** A recording that comes, and the request that it is part of. */
export class OpenRecording {
  readonly recording: Recording;
  readonly request: RequestContext;
  readonly #openedMs = performance.now();
  readonly #pace = new Pace();
  /** How long it was kept waiting for room, which is no fault of its client. */
  #waitedMs = 0;
  #isWaiting = false;

  /** @param data that of `audio-start`. Throws as {@link Recording} does. */
  constructor(data: WyomingEvent["data"], request: RequestContext, deps: WyomingDeps) {
    this.recording = new Recording(data, request.caller, deps);
    this.request = request;
  }

  /** Takes the next samples, as {@link Recording.add} does. */
  async add(samples: Uint8Array): Promise<void> {
    const askedMs = performance.now();
    this.#isWaiting = true;
    try {
      await this.recording.add(samples);
    } finally {
      this.#isWaiting = false;
      this.#waitedMs += performance.now() - askedMs;
    }
  }

  /** Whether it waits for room. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Notes for its pace what has come, which is to be done once a second or more often; as {@link standing}. */
  look(waitingBytes: number): void {
    if (!this.#isWaiting) this.#pace.note(this.#ageMs, this.recording.receivedBytes + waitingBytes);
  }

  /**
   * What its connection does with its room, while it is not whole.
   *
   * @param waitingBytes those that have come of an event which is not whole yet
   */
  standing(waitingBytes: number): Standing {
    const ageMs = this.#ageMs;
    const bytes = this.recording.receivedBytes + waitingBytes;
    if (bytes === 0) return { is: "empty", ageMs };
    return { is: "sending", ageMs, bytesASecond: this.#pace.bytesASecond(ageMs, bytes) };
  }

  get #ageMs(): number {
    return performance.now() - this.#openedMs - this.#waitedMs;
  }
}

/** Seconds are looked at that lie so far back, in milliseconds: more than a client may take from one piece to the next. */
const WINDOW_MS = 3_000;
/** What is noted more often takes the place of what was noted last. */
const STEP_MS = 250;

interface Mark {
  readonly atMs: number;
  readonly bytes: number;
}

/** How fast something comes, in its last three to four seconds: what came at once before that tells nothing of now. */
export class Pace {
  readonly #marks: Mark[] = [{ atMs: 0, bytes: 0 }];

  /**
   * Notes what has come, which is to be done once a second or more often.
   *
   * @param atMs since the beginning; no earlier than before
   * @param bytes all since then
   */
  note(atMs: number, bytes: number): void {
    const beforeLast = this.#marks.at(-2);
    if (beforeLast !== undefined && atMs - beforeLast.atMs < STEP_MS) this.#marks.pop();
    this.#marks.push({ atMs, bytes });
    while (this.#marks.length > 1 && this.#marks[1]!.atMs <= atMs - WINDOW_MS) this.#marks.shift();
  }

  /** Bytes a second, where so many have come until then. */
  bytesASecond(atMs: number, bytes: number): number {
    const from = this.#marks.findLast((mark) => mark.atMs <= atMs - WINDOW_MS) ?? this.#marks[0]!;
    return (1_000 * Math.max(0, bytes - from.bytes)) / Math.max(1, atMs - from.atMs);
  }
}

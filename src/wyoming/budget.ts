import {
  type BucketLimits,
  type BucketState,
  fullBucket,
  PARTS_A_TOKEN,
  peek,
  refilled,
} from "../tenancy/token-bucket.ts";
import type { ReceivedEvent } from "./event.ts";

/**
 * What a connection may have done for it that no token of the bridge's key pays for: points, of which 64 Ki come back
 * each second. A `describe` costs some 4,000 and a `ping` 1,200, so that a client may send 120 or 400 of them at once, and
 * then 16 or 50 a second. Home Assistant sends one now and then.
 */
export const BUDGET: BucketLimits = { rpm: 60 * 64 * 1024, burst: 512 * 1024 };

/** What any event costs that belongs to no request, beside its bytes and those of its answer. */
const EVENT_POINTS = 1_000;
/** What any event costs inside of a request, beside its bytes. */
const INSIDE_POINTS = 256;
/** A payload is copied and not read: so many of its bytes cost as much as one of JSON. */
const PAYLOAD_BYTES_A_POINT = 16;
/** A request has few characters, so that each of them pays for much. */
const POINTS_A_CHARACTER = 64;

/** A bucket that may owe: what has been done is paid, and whoever owes waits before anything more is done. */
export class Budget {
  readonly #limits: BucketLimits;
  readonly #nowMs: () => number;
  #state: BucketState;

  constructor(limits: BucketLimits = BUDGET, nowMs: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#state = fullBucket(limits, nowMs());
  }

  spend(points: number): void {
    const { parts, atMs } = refilled(this.#state, this.#limits, this.#nowMs());
    this.#state = { parts: parts - Math.ceil(points) * PARTS_A_TOKEN, atMs };
  }

  /** Whole milliseconds until there is a point to spend; 0 when there is one. */
  get waitMs(): number {
    return peek(this.#state, this.#limits, this.#nowMs()).retryAfterMs;
  }
}

/** What an event costs that belongs to no request. */
export function priceOutside({ jsonBytes, payload }: ReceivedEvent): number {
  return EVENT_POINTS + jsonBytes + (payload?.length ?? 0) / PAYLOAD_BYTES_A_POINT;
}

/** What a piece of a recording costs: nothing, unless it is tiny. Its sound, of which there is only so much, pays for it. */
export function priceOfSound({ jsonBytes, payload }: ReceivedEvent): number {
  return Math.max(0, INSIDE_POINTS + jsonBytes - (payload?.length ?? 0));
}

/** What a piece of a text costs, of which so many characters are spoken. */
export function priceOfWords({ jsonBytes }: ReceivedEvent, chars: number): number {
  return Math.max(0, INSIDE_POINTS + jsonBytes - POINTS_A_CHARACTER * chars);
}

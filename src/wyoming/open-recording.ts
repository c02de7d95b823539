import type { WyomingEvent } from "./event.ts";
import type { Standing } from "./giving-way.ts";
import { Recording } from "./recording.ts";
import type { WyomingDeps, WyomingRequest } from "./requests.ts";

/** A recording that comes, and the request that it is part of. */
export class OpenRecording {
  readonly recording: Recording;
  readonly request: WyomingRequest;
  readonly #openedMs = performance.now();
  /** How long it was kept waiting for room, which is no fault of its client. */
  #waitedMs = 0;

  /** @param data that of `audio-start`. Throws as {@link Recording} does. */
  constructor(data: WyomingEvent["data"], request: WyomingRequest, deps: WyomingDeps) {
    this.recording = new Recording(data, request, deps);
    this.request = request;
  }

  /** Takes the next samples, as {@link Recording.add} does. */
  async add(samples: Uint8Array): Promise<void> {
    const askedMs = performance.now();
    await this.recording.add(samples);
    this.#waitedMs += performance.now() - askedMs;
  }

  /**
   * What its connection does with its room, while it is not whole.
   *
   * @param waitingBytes those that have come of an event which is not whole yet
   */
  standing(waitingBytes: number): Standing {
    const ageMs = performance.now() - this.#openedMs - this.#waitedMs;
    const bytes = this.recording.receivedBytes + waitingBytes;
    return bytes === 0 ? { is: "empty", ageMs } : { is: "sending", ageMs, bytes };
  }
}

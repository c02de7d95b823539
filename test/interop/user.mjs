// A user of a spoken conversation, and what its client was told: the microphone is never off, and the loudspeaker plays in
// real time what comes.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const RATE_HZ = 24_000;
const CHUNK_MS = 20;
const CHUNK_BYTES = (2 * RATE_HZ * CHUNK_MS) / 1_000;
/** Of the reply that is interrupted this much is heard first. */
const HEARD_MS = 2_000;
const LIMIT_MS = 30_000;

/** Samples of 16 bits: what the user says, whatever comes. */
const TURN = readFileSync(process.env.INTEROP_TURN).subarray(44);
/** The function that may be called in the fourth turn, and what it gives. */
export const FUNCTION = {
  name: "get_weather",
  description: "The weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};
export const WEATHER = "sunny";

export class Conversation {
  events = {};
  transcripts = [];
  replies = [];
  calls = null;
  errors = [];
  #left = Buffer.alloc(0);
  #saidAt = 0;
  #stopToldAt = null;
  #playedAt = 0;
  #isOver = false;

  /** Counts an event. */
  saw(type) {
    this.events[type] = (this.events[type] ?? 0) + 1;
  }

  /** A reply begins that will be told of by what is returned. */
  reply() {
    const reply = { text: "", audio_s: 0, isDone: false, lastSoundAt: 0 };
    this.replies.push(reply);
    return {
      text: (text) => {
        reply.text = text;
      },
      /** Bytes of samples of 16 bits at 24 kHz. */
      sound: (bytes) => {
        const now = performance.now();
        reply.lastSoundAt = now;
        this.#playedAt = Math.max(this.#playedAt, now) + bytes / 48;
        reply.audio_s += bytes / 48_000;
      },
      done: () => {
        reply.isDone = true;
      },
    };
  }

  /** The client was told that its user speaks: it plays no more. */
  interrupted() {
    this.#playedAt = 0;
    if (this.#saidAt > 0) this.#stopToldAt ??= performance.now();
  }

  /** Holds the conversation, the microphone's 20 ms given to `send`, and gives the report of it. */
  async hold(send) {
    const microphone = this.#listen(send);
    let stoppedAfterS = null;
    try {
      this.#say();
      await this.#until("the first reply to be heard", () => this.#isHeard(1));
      this.#say();
      await this.#until("the second reply to begin", () => this.replies[1]?.audio_s > 0);
      await sleep(HEARD_MS);
      this.#saidAt = performance.now();
      this.#say();
      await this.#until("the reply to the interruption", () => this.replies.length > 2);
      if (this.#stopToldAt !== null) {
        const stoppedAt = Math.max(this.replies[1].lastSoundAt, this.#stopToldAt);
        stoppedAfterS = (stoppedAt - this.#saidAt) / 1_000;
      }
      await this.#until("the third reply to be heard", () => this.#isHeard(3));
      if (this.calls !== null) {
        this.#say();
        // A reply that calls a function says nothing itself.
        const isAnswered = () => this.replies.slice(3).some((each) => each.audio_s > 0 && each.isDone);
        await this.#until("the fourth reply", isAnswered);
      }
    } catch (error) {
      this.errors.push(error.message);
    }
    this.#isOver = true;
    await microphone;
    return {
      events: this.events,
      transcripts: this.transcripts,
      replies: this.replies
        .filter(({ audio_s }) => audio_s > 0)
        .map(({ text, audio_s }) => ({ text, audio_s })),
      stopped_after_s: stoppedAfterS,
      calls: this.calls,
      errors: this.errors,
    };
  }

  #say() {
    this.#left = TURN;
  }

  #isHeard(count) {
    return this.replies[count - 1]?.isDone === true && performance.now() > this.#playedAt + 200;
  }

  async #listen(send) {
    const began = performance.now();
    for (let count = 1; !this.#isOver; count++) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      this.#left.copy(chunk);
      this.#left = this.#left.subarray(CHUNK_BYTES);
      send(chunk);
      await sleep(Math.max(0, began + count * CHUNK_MS - performance.now()));
    }
  }

  async #until(what, condition) {
    const began = performance.now();
    while (!condition()) {
      if (this.errors.length > 0) throw new Error(`there was an error before ${what}`);
      if (performance.now() - began > LIMIT_MS) throw new Error(`waited in vain for ${what}`);
      await sleep(10);
    }
  }
}

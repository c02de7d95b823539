import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { createRandom, type Random } from "../../src/engines/prosody/random.ts";

const RATE_HZ = 24_000;
const CHUNK_MS = 20;
const CHUNK = (RATE_HZ * CHUNK_MS) / 1_000;
/** A room's noise, below full scale. */
const ROOM_DB = -50;
/** Sound that a player has before it begins. */
export const BUFFER_MS = 200;

/** An event of the server's, and when it came. */
export interface Arrived {
  readonly atMs: number;
  readonly type: string;
  readonly event: Readonly<Record<string, unknown>>;
}

/** When somebody spoke: of the chunks with its first and its last sample, when they were sent. */
export interface Said {
  readonly beganMs: number;
  readonly endedMs: number;
}

/** A reply as it came and was played. */
export interface HeardReply {
  readonly id: string;
  itemId: string | null;
  firstDeltaMs: number | null;
  lastDeltaMs: number | null;
  /** When its playing began: with the first {@link BUFFER_MS} of it, or its end. */
  playedFromMs: number | null;
  /** 24 kHz, 16-bit. */
  readonly pieces: Buffer[];
  soundMs: number;
  /** Pieces that came after their time to be played. */
  underruns: number;
  /** How it ended; `null` while it has not. */
  status: string | null;
}

export interface UserOptions {
  readonly url: string;
  readonly key: string;
  readonly seed: number;
  /** What `session.update` sends; of turn detection, `semantic_vad` of medium eagerness unless told. */
  readonly session?: Readonly<Record<string, unknown>>;
  /** Whether the microphone sends nothing while its user says nothing. */
  readonly isMuted?: boolean;
}

/**
 * Somebody in a room with a microphone and loudspeakers without an echo: sends 20 ms of sound every 20 ms, what is to be
 * said and the room's noise, and plays what comes as it comes.
 */
export class SimulatedUser {
  readonly arrived: Arrived[] = [];
  readonly replies: HeardReply[] = [];
  readonly random: Random;
  readonly #socket: WebSocket;
  readonly #isMuted: boolean;
  #speech: { readonly pcm: Float32Array; at: number; beganMs: number; done: (said: Said) => void } | null =
    null;
  #sentChunks = 0;
  #isOpen = true;
  #wake: () => void = () => {};

  private constructor(socket: WebSocket, { seed, isMuted = false }: UserOptions) {
    this.#socket = socket;
    this.#isMuted = isMuted;
    this.random = createRandom(BigInt(seed), 0, "noise");
    socket.on("message", (data) => this.#arrived(`${data}`));
    // The connection closes after an error.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isOpen = false;
      this.#wake();
    });
  }

  static async open(options: UserOptions): Promise<SimulatedUser> {
    const socket = new WebSocket(`${options.url.replace("http", "ws")}/v1/realtime`, {
      headers: { authorization: `Bearer ${options.key}` },
    });
    await once(socket, "open");
    const user = new SimulatedUser(socket, options);
    user.send({
      type: "session.update",
      session: {
        type: "realtime",
        audio: { input: { turn_detection: { type: "semantic_vad", eagerness: "medium" } } },
        ...options.session,
      },
    });
    void user.#sound();
    return user;
  }

  send(event: Readonly<Record<string, unknown>>): void {
    this.#socket.send(JSON.stringify(event));
  }

  /** Says it, from the next chunk on, in real time. */
  async say(clip: Clip): Promise<Said> {
    const pcm = resample(clip.samples, clip.sampleRateHz, RATE_HZ);
    return new Promise((done) => {
      this.#speech = { pcm, at: 0, beganMs: 0, done };
    });
  }

  /** Waits until something has come, or so long. @returns whether it has */
  async until(isSo: () => boolean, forMs: number): Promise<boolean> {
    const end = performance.now() + forMs;
    while (!isSo()) {
      const leftMs = end - performance.now();
      if (leftMs <= 0 || !this.#isOpen) return false;
      await Promise.race([
        sleep(leftMs),
        new Promise<void>((resolve) => {
          this.#wake = resolve;
        }),
      ]);
    }
    return true;
  }

  /** The first event of a type that came at or after that time. */
  since(type: string, atMs: number): Arrived | undefined {
    return this.arrived.find((each) => each.type === type && each.atMs >= atMs);
  }

  /** When a reply has been played to the end of what came of it; before its playing began, never. */
  playedAtMs({ playedFromMs, soundMs }: HeardReply): number {
    return playedFromMs === null ? Number.POSITIVE_INFINITY : playedFromMs + soundMs;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#socket.terminate();
    if (this.#socket.readyState !== this.#socket.CLOSED) await once(this.#socket, "close");
  }

  #arrived(text: string): void {
    const atMs = performance.now();
    const event = JSON.parse(text) as { readonly type: string } & Record<string, unknown>;
    const response = event.response as { readonly id: string; readonly status: string } | undefined;
    const reply = this.replies.find(({ id }) => id === (event.response_id ?? response?.id));
    switch (event.type) {
      case "response.created":
        this.replies.push({
          id: response!.id,
          itemId: null,
          firstDeltaMs: null,
          lastDeltaMs: null,
          playedFromMs: null,
          pieces: [],
          soundMs: 0,
          underruns: 0,
          status: null,
        });
        break;
      case "response.output_audio.delta": {
        const piece = Buffer.from(event.delta as string, "base64");
        if (reply === undefined) break;
        reply.itemId = event.item_id as string;
        reply.firstDeltaMs ??= atMs;
        if (atMs > this.playedAtMs(reply)) reply.underruns += 1;
        reply.lastDeltaMs = atMs;
        reply.pieces.push(piece);
        reply.soundMs += piece.length / 48;
        if (reply.soundMs >= BUFFER_MS) reply.playedFromMs ??= atMs;
        // Sound itself is kept with its reply alone.
        this.arrived.push({ atMs, type: event.type, event: { response_id: reply.id } });
        this.#wake();
        return;
      }
      case "response.done":
        if (reply === undefined) break;
        reply.status = response!.status;
        if (reply.soundMs > 0) reply.playedFromMs ??= atMs;
        break;
    }
    this.arrived.push({ atMs, type: event.type, event });
    this.#wake();
  }

  async #sound(): Promise<void> {
    const beganMs = performance.now();
    while (this.#isOpen) {
      const due = Math.floor((performance.now() - beganMs) / CHUNK_MS);
      while (this.#sentChunks < due && this.#isOpen) this.#chunk();
      await sleep(Math.max(1, beganMs + (this.#sentChunks + 1) * CHUNK_MS - performance.now()));
    }
  }

  #chunk(): void {
    this.#sentChunks += 1;
    const speech = this.#speech;
    if (speech === null && this.#isMuted) return;
    const samples = new Float32Array(CHUNK);
    if (speech !== null) samples.set(speech.pcm.subarray(speech.at, speech.at + CHUNK));
    // Uniform noise of that RMS.
    const gain = Math.sqrt(3) * 10 ** (ROOM_DB / 20);
    for (let at = 0; at < CHUNK; at++) samples[at]! += gain * (2 * this.random.uniform() - 1);
    const pcm = toPcm16(samples);
    this.send({
      type: "input_audio_buffer.append",
      audio: Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString("base64"),
    });
    if (speech === null) return;
    const nowMs = performance.now();
    if (speech.at === 0) speech.beganMs = nowMs;
    speech.at += CHUNK;
    if (speech.at < speech.pcm.length) return;
    this.#speech = null;
    speech.done({ beganMs: speech.beganMs, endedMs: nowMs });
  }
}

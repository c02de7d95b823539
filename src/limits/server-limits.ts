import { availableParallelism } from "node:os";
import { FORM_EXTRA_BYTES, MAX_RECORDING_BYTES } from "../contract/audio-transcriptions.ts";
import type { Settings } from "../settings/schema.ts";
import { KeyedSemaphore, type KeyedSemaphoreOptions } from "./keyed-semaphore.ts";
import type { UtteranceSlotOptions } from "./slot-utterance.ts";

/**
 * Limits of a server, in total and per key: everything that a request may wait for. Their names in messages (`what`)
 * are also those of `/metrics` and of docs/errors.md.
 */
export interface ServerLimits {
  readonly speaking: UtteranceSlotOptions;
  readonly shared: Readonly<Record<SharedResource, KeyedSemaphoreOptions>>;
}

/** Resources that keys share in addition to the slots of utterances. */
export type SharedResource =
  /** Turns to write. */
  | "writing"
  /** Clips of audio-only turns to transcribe. */
  | "hearingTurns"
  /** Passes over turns of realtime sessions, which may still be in progress. */
  | "hearingSessions"
  /** Calls of realtime sessions to the voice activity and end-of-turn detectors. */
  | "detecting"
  /** Recordings to transcribe. */
  | "hearingRecordings"
  /** Bytes of request bodies, except recordings. */
  | "receiving"
  /** Bytes of recordings, from when they are sent until they are transcribed. */
  | "recorded"
  /** Bytes of decoded audio. */
  | "audio"
  /** Large bodies to parse. */
  | "reading"
  /** Bytes of whole replies. */
  | "replies";

export type Semaphores = Readonly<Record<SharedResource, KeyedSemaphore>>;

export function createSemaphores(shared: ServerLimits["shared"]): Semaphores {
  const made = Object.entries(shared).map(([name, options]) => [name, new KeyedSemaphore(options)]);
  return Object.fromEntries(made) as Semaphores;
}

export function workerCount(settings: Pick<Settings, "workers">): number {
  return settings.workers > 0 ? settings.workers : Math.min(64, availableParallelism());
}

/** Derives the limits from the settings. A key never has more than the total, and the largest body always fits. */
export function serverLimits(settings: Settings): ServerLimits {
  const concurrency =
    settings.concurrency > 0 ? settings.concurrency : SLOTS_PER_THREAD * workerCount(settings);
  const { queueDepth, keyQueueDepth, queueWaitMs, bodyLimitBytes, keyConcurrency, requestTimeoutMs } =
    settings;
  const { writer, recogniser } = settings;
  const shared = (
    what: string,
    total: number,
    perKey: number,
    waitMs = queueWaitMs,
  ): KeyedSemaphoreOptions => ({
    what,
    total,
    perKey: Math.min(total, perKey),
    queueDepth,
    keyQueueDepth,
    waitMs,
  });
  const memory = (what: string, totalMb: number, keyMb: number, minBytes = 0) =>
    shared(what, Math.max(totalMb * MIB, minBytes), Math.max(keyMb * MIB, minBytes));
  const { receivingBudgetMb, audioBudgetMb, replyBudgetMb } = settings;
  // The embedded recogniser is one thread, which takes windows of its clips in turns; an endpoint bears as much as a
  // writer.
  const isThread = recogniser.kind !== "endpoint";
  const [turns, keyTurns] = isThread ? [TURNS_AT_ONCE, 1] : [writer.concurrency, writer.keyConcurrency];
  const hearingMs = HEARING_WAITS * queueWaitMs;
  return {
    speaking: {
      concurrency,
      keyConcurrency: keyConcurrency > 0 ? Math.min(keyConcurrency, concurrency) : concurrency,
      queueDepth,
      keyQueueDepth,
      queueWaitMs,
      maxLate: workerCount(settings),
    },
    shared: {
      writing: shared("turns being written", writer.concurrency, writer.keyConcurrency),
      hearingTurns: shared("turns being heard", turns, keyTurns, hearingMs),
      // One at a time, so that the most urgent is always next.
      hearingSessions: shared("turns of sessions being heard", isThread ? 1 : turns, keyTurns, hearingMs),
      // Audio must never be refused, so the queue is unbounded; a session has few calls in it.
      detecting: {
        ...shared("sound being searched for speech", DETECTIONS_AT_ONCE, 1, requestTimeoutMs),
        queueDepth: Number.POSITIVE_INFINITY,
        keyQueueDepth: Number.POSITIVE_INFINITY,
      },
      hearingRecordings: shared("recordings being heard", RECORDINGS_AT_ONCE, 1, requestTimeoutMs),
      recorded: shared("recordings", KEYS_WITH_RECORDINGS * RECORDED_BYTES, RECORDED_BYTES, requestTimeoutMs),
      receiving: memory(
        "bodies being received",
        receivingBudgetMb,
        settings.keyReceivingBudgetMb,
        bodyLimitBytes,
      ),
      audio: memory("audio being heard", audioBudgetMb, settings.keyAudioBudgetMb),
      reading: shared("large bodies being read", 1, 1, requestTimeoutMs),
      replies: memory("replies being read", replyBudgetMb, settings.keyReplyBudgetMb),
    },
  };
}

/** Utterances that one thread of the embedded voice computes at once. */
const SLOTS_PER_THREAD = 32;

/** A turn that is not transcribed cannot be answered, so it may wait longer than other work. */
const HEARING_WAITS = 3;

/** Turns transcribed at once. A second slot keeps a short clip from waiting for another key's long one. */
const TURNS_AT_ONCE = 2;

/** Detector calls at once. The detectors share one thread; a second slot keeps it busy between calls. */
const DETECTIONS_AT_ONCE = 2;

/**
 * Recordings, in addition to the turns. Each takes the memory of one window, and the window of the least transcribed
 * recording goes first, so a newcomer waits for a window and not for a recording.
 */
const RECORDINGS_AT_ONCE = 8;

const MIB = 2 ** 20;

/** Bytes per key: the largest file and a short one. The total has room for several keys. */
const RECORDED_BYTES = MAX_RECORDING_BYTES + FORM_EXTRA_BYTES + 4 * MIB;
const KEYS_WITH_RECORDINGS = 3;

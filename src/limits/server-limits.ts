import { availableParallelism } from "node:os";
import { FORM_EXTRA_BYTES, MAX_RECORDING_BYTES } from "../contract/audio-transcriptions.ts";
import type { Settings } from "../settings/schema.ts";
import { KeyedSemaphore, type KeyedSemaphoreOptions } from "./keyed-semaphore.ts";
import type { UtteranceSlotOptions } from "./utterance-slots.ts";

/**
 * What a server may do at once, for everybody and for one key. These are all the things that a request waits for: their
 * names for messages (`what`) are those of `/metrics` and of docs/operating.md, too.
 */
export interface ServerLimits {
  readonly speaking: UtteranceSlotOptions;
  readonly shared: Readonly<Record<SharedResource, KeyedSemaphoreOptions>>;
}

/** What keys share beside the slots of utterances. */
export type SharedResource =
  /** Turns. */
  | "writing"
  /** Clips of turns that are sound alone. */
  | "hearingTurns"
  /** Calls of realtime sessions that detect speech, or judge whether a turn is over. */
  | "detecting"
  /** Recordings to transcribe. */
  | "hearingRecordings"
  /** Bytes of request bodies, but for recordings. */
  | "receiving"
  /** Bytes of recordings, from when they are sent until they have been heard. */
  | "recorded"
  /** Bytes of decoded audio. */
  | "audio"
  /** Large bodies that are read. */
  | "reading"
  /** Bytes of whole replies. */
  | "replies";

/** A semaphore for each of what keys share. */
export type Semaphores = Readonly<Record<SharedResource, KeyedSemaphore>>;

export function createSemaphores(shared: ServerLimits["shared"]): Semaphores {
  const made = Object.entries(shared).map(([name, options]) => [name, new KeyedSemaphore(options)]);
  return Object.fromEntries(made) as Semaphores;
}

/** Threads that speak: as many as the settings say, or one a core. */
export function workerCount(settings: Pick<Settings, "workers">): number {
  return settings.workers > 0 ? settings.workers : Math.min(64, availableParallelism());
}

/** The limits that the settings mean. A key may have no more than there is; the largest body can always be received. */
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
  // The embedded recogniser is one thread, which takes windows of its clips by turns; an endpoint bears what a writer does.
  const [turns, keyTurns] =
    recogniser.kind === "endpoint" ? [writer.concurrency, writer.keyConcurrency] : [TURNS_AT_ONCE, 1];
  return {
    speaking: {
      concurrency,
      keyConcurrency: keyConcurrency > 0 ? Math.min(keyConcurrency, concurrency) : concurrency,
      queueDepth,
      keyQueueDepth,
      queueWaitMs,
    },
    shared: {
      writing: shared("turns being written", writer.concurrency, writer.keyConcurrency),
      hearingTurns: shared("turns being heard", turns, keyTurns, HEARING_WAITS * queueWaitMs),
      // Audio must never be refused, so the queue is unbounded; a session has a few calls in it.
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

/** A turn that is not heard cannot be answered, so its place is waited for longer than others. */
const HEARING_WAITS = 3;

/** More at once make none faster, and a second place keeps a short clip from waiting for another key's long one. */
const TURNS_AT_ONCE = 2;

/** The detectors share one thread; a second place keeps it busy between calls. */
const DETECTIONS_AT_ONCE = 2;

/**
 * Recordings, beside the turns. Each takes the memory of one window, and of windows that wait the one goes first whose
 * recording was heard least: so there may be more of them, and who comes last waits for a window and not for a recording.
 */
const RECORDINGS_AT_ONCE = 8;

const MIB = 2 ** 20;

/** Of one key's recordings: the largest file, and a short one beside it. And so much for each of several keys. */
const RECORDED_BYTES = MAX_RECORDING_BYTES + FORM_EXTRA_BYTES + 4 * MIB;
const KEYS_WITH_RECORDINGS = 3;

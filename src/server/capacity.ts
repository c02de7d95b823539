import { availableParallelism } from "node:os";
import { MAX_RECORDING_BYTES } from "../contract/audio-transcriptions.ts";
import { FORM_EXTRA_BYTES } from "../http/form-body.ts";
import type { AdmissionOptions } from "../serving/admission.ts";
import type { KeyedSemaphoreOptions } from "../serving/keyed-semaphore.ts";
import type { Settings } from "../settings/schema.ts";

/** What a server may do at once, for everybody and for one key: the limits of all that is counted for each key. */
export interface Capacity {
  readonly speaking: AdmissionOptions;
  /** Turns. */
  readonly writing: KeyedSemaphoreOptions;
  /** Clips of turns that are sound alone. */
  readonly hearingTurns: KeyedSemaphoreOptions;
  /** Recordings. */
  readonly hearingRecordings: KeyedSemaphoreOptions;
  /** Bytes of request bodies, but for recordings. */
  readonly receiving: KeyedSemaphoreOptions;
  /** Bytes of recordings, from when they are sent until they have been heard. */
  readonly recorded: KeyedSemaphoreOptions;
  /** Bytes of decoded audio. */
  readonly audio: KeyedSemaphoreOptions;
  /** Large bodies that are read, one at a time. */
  readonly reading: KeyedSemaphoreOptions;
  /** Bytes of whole replies. */
  readonly replies: KeyedSemaphoreOptions;
}

/** Threads that speak: as many as the settings say, or one a core. */
export function workerCount(settings: Pick<Settings, "workers">): number {
  return settings.workers > 0 ? settings.workers : Math.min(64, availableParallelism());
}

/** The limits that the settings mean. A key may have no more than there is; the largest body can always be received. */
export function capacityOf(settings: Settings): Capacity {
  const concurrency = settings.concurrency > 0 ? settings.concurrency : 32 * workerCount(settings);
  const { queueDepth, keyQueueDepth, queueWaitMs, bodyLimitBytes, keyConcurrency } = settings;
  const waiting = { queueDepth, keyQueueDepth, waitMs: queueWaitMs };
  const bytes = (what: string, totalMb: number, keyMb: number, minBytes: number): KeyedSemaphoreOptions => {
    const total = Math.max(totalMb * MIB, minBytes);
    return { what, total, perKey: Math.min(total, Math.max(keyMb * MIB, minBytes)), ...waiting };
  };
  return {
    speaking: {
      concurrency,
      keyConcurrency: keyConcurrency > 0 ? Math.min(keyConcurrency, concurrency) : concurrency,
      queueDepth,
      keyQueueDepth,
      queueWaitMs,
    },
    writing: {
      what: "turns being written",
      total: settings.writer.concurrency,
      perKey: Math.min(settings.writer.concurrency, settings.writer.keyConcurrency),
      ...waiting,
    },
    hearingTurns: {
      what: "turns being heard",
      ...turnsHeardAtOnce(settings),
      ...waiting,
      waitMs: HEARING_WAITS * settings.queueWaitMs,
    },
    hearingRecordings: {
      what: "recordings being heard",
      total: RECORDINGS_AT_ONCE,
      perKey: 1,
      ...waiting,
      waitMs: settings.requestTimeoutMs,
    },
    recorded: {
      what: "recordings",
      total: RECORDED_BYTES * KEYS_WITH_RECORDINGS,
      perKey: RECORDED_BYTES,
      ...waiting,
      waitMs: settings.requestTimeoutMs,
    },
    receiving: bytes(
      "bodies being received",
      settings.receivingBudgetMb,
      settings.keyReceivingBudgetMb,
      bodyLimitBytes,
    ),
    audio: bytes("audio being heard", settings.audioBudgetMb, settings.keyAudioBudgetMb, 0),
    reading: {
      what: "large bodies being read",
      total: 1,
      perKey: 1,
      ...waiting,
      waitMs: settings.requestTimeoutMs,
    },
    replies: bytes("replies being read", settings.replyBudgetMb, settings.keyReplyBudgetMb, 0),
  };
}

/**
 * The embedded recogniser is one thread, which takes windows of its clips by turns: more at once make none faster, and a
 * second place keeps a short clip from waiting for another key's long one. An endpoint bears what a writer does.
 */
function turnsHeardAtOnce({ recogniser, writer }: Settings): Pick<KeyedSemaphoreOptions, "total" | "perKey"> {
  if (recogniser.kind !== "endpoint") return { total: HEARD_AT_ONCE, perKey: 1 };
  return { total: writer.concurrency, perKey: Math.min(writer.concurrency, writer.keyConcurrency) };
}

/** A turn that is not heard cannot be answered, so its place is waited for longer than others. */
const HEARING_WAITS = 3;

/** Turns: windows of them are taken by turns, so that a long one does not keep another key's short one. */
const HEARD_AT_ONCE = 2;

/**
 * Recordings, beside the turns. Each takes the memory of one window, and of windows that wait the one goes first whose
 * recording was heard least: so there may be more of them, and who comes last waits for a window and not for a recording.
 */
const RECORDINGS_AT_ONCE = 8;

const MIB = 2 ** 20;

/** Of one key's recordings: the largest file, and a short one beside it. And so much for each of several keys. */
const RECORDED_BYTES = MAX_RECORDING_BYTES + FORM_EXTRA_BYTES + 4 * MIB;
const KEYS_WITH_RECORDINGS = 3;

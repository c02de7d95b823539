import { availableParallelism } from "node:os";
import type { AdmissionOptions } from "../serving/admission.ts";
import type { FairShareOptions } from "../serving/fair-share.ts";
import type { Settings } from "../settings/schema.ts";

/** What a server may do at once, for everybody and for one key: the limits of all that is counted for each key. */
export interface Capacity {
  readonly speaking: AdmissionOptions;
  /** Turns. */
  readonly writing: FairShareOptions;
  /** Clips of turns that are sound alone. */
  readonly listening: FairShareOptions;
  /** Recordings. */
  readonly hearing: FairShareOptions;
  /** Bytes. */
  readonly receiving: FairShareOptions;
  /** Bytes. */
  readonly audio: FairShareOptions;
  /** Large bodies that are read, one at a time. */
  readonly reading: FairShareOptions;
  /** Recordings that are decoded, one at a time. */
  readonly decoding: FairShareOptions;
  /** Bytes. */
  readonly replies: FairShareOptions;
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
  const bytes = (what: string, totalMb: number, keyMb: number, leastBytes: number): FairShareOptions => {
    const total = Math.max(totalMb * MIB, leastBytes);
    return { what, total, perKey: Math.min(total, Math.max(keyMb * MIB, leastBytes)), ...waiting };
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
    listening: {
      what: "turns being heard",
      ...turnsHeardAtOnce(settings),
      ...waiting,
      waitMs: HEARING_WAITS * settings.queueWaitMs,
    },
    hearing: {
      what: "recordings being heard",
      total: HEARD_AT_ONCE,
      perKey: 1,
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
    decoding: {
      what: "recordings being decoded",
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
function turnsHeardAtOnce({ recogniser, writer }: Settings): Pick<FairShareOptions, "total" | "perKey"> {
  if (recogniser.kind !== "endpoint") return { total: HEARD_AT_ONCE, perKey: 1 };
  return { total: writer.concurrency, perKey: Math.min(writer.concurrency, writer.keyConcurrency) };
}

/** A turn that is not heard cannot be answered, so its place is waited for longer than others. */
const HEARING_WAITS = 3;

/** One is heard while the next lies ready. A long one takes its time, so who waits may wait as long as a reply may take. */
const HEARD_AT_ONCE = 2;

const MIB = 2 ** 20;

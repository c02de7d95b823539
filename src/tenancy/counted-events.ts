import type Database from "libsql";
import { toTicks } from "./audio-ticks.ts";
import type { UsageRecord } from "./store.ts";

/** The events that were counted lately, so that one that comes again is known. */
export interface CountedEvents {
  /** False when the event is known already. */
  remember(record: UsageRecord): boolean;
  /** Forgets some of the oldest, `count` at most, if they are older than anybody repeats an event. */
  forget(count: number): void;
}

/** Events are repeated within seconds, if at all. */
const KEPT_S = 86_400;

/**
 * Ids that begin with their time (`newEventId`) lie in that order, so that the oldest are found without an index. Their
 * age is told by when they were recorded here; an id of another kind may be kept for longer, and never for less.
 */
export function countedEventsOn(database: Database.Database): CountedEvents {
  const insert = database.prepare(
    `INSERT INTO usage_events (event_id, key_id, input_chars, input_ticks, output_ticks, ts)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const forgetOldest = database.prepare(
    `DELETE FROM usage_events WHERE event_id IN (SELECT event_id FROM usage_events ORDER BY event_id LIMIT ?1)
     AND recorded_ts < unixepoch('subsec') - ${KEPT_S}`,
  );
  return {
    remember({ eventId, keyId, inputChars, inputAudioS, outputAudioS, tsS }) {
      const ticks = [toTicks(inputAudioS), toTicks(outputAudioS)];
      return insert.run([eventId, keyId, inputChars, ...ticks, tsS]).changes === 1;
    },
    forget(count) {
      forgetOldest.run([count]);
    },
  };
}

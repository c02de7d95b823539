/** What a connection does with its room, as of now. */
export type ConnectionActivity =
  /** It asks for nothing. */
  | { readonly is: "idle" }
  /** It has begun an event and not ended it, or has asked for more than its budget; nothing is done for it. */
  | { readonly is: "unasked" }
  /** It has opened a recording or a text, so long ago, and sent nothing of it. */
  | { readonly is: "empty"; readonly ageMs: number }
  /** It sends a recording, opened so long ago, at such a pace in its last seconds. */
  | { readonly is: "sending"; readonly ageMs: number; readonly bytesPerS: number }
  /** It has opened a text of which all that came was spoken, and has sent no word for so long. */
  | { readonly is: "pausing"; readonly ageMs: number }
  /** It is being served. */
  | { readonly is: "served" };

/** Whoever gives way, and why, in words for the log. */
export interface Eviction<T> {
  readonly connection: T;
  readonly reason: string;
}

/** A quarter of the slowest sound that is taken, 8 kHz of 16 bits: nobody who speaks sends less. */
const MIN_BYTES_A_SECOND = 4_000;
/** A recording is given so long before its pace is looked at, in milliseconds. */
const PACE_AFTER_MS = 1_000;
/** Whoever writes the words of a text may think for so long, in milliseconds. */
const MAX_PAUSE_MS = 10_000;

/** Why a recording loses its room. */
export const TOO_SLOW = "it sent too slowly while others waited";

/**
 * Who makes room for a newcomer: whoever is idle; else whoever is inside of an event or over its budget; else whoever
 * opened something and sent nothing of it; else the slowest recording that no microphone can be sending; else the text
 * whose next word has been missing for longer than somebody thinks. Of several like ones, that which has been there, been
 * open or paused longest. `null` where everybody has good use of their room.
 *
 * @param connections those that have been there longest first
 */
export function chooseEviction<T>(
  connections: readonly (readonly [T, ConnectionActivity])[],
): Eviction<T> | null {
  for (const kind of ["idle", "unasked"]) {
    const [connection] = connections.find(([, { is }]) => is === kind) ?? [];
    if (connection !== undefined) return { connection, reason: "others needed its room" };
  }
  const empty = minBy(connections, (activity) => (activity.is === "empty" ? -activity.ageMs : null));
  if (empty !== null) return { connection: empty, reason: "it sent nothing while others waited" };
  const slowest = minBy(connections, (activity) => (isTooSlow(activity) ? activity.bytesPerS : null));
  if (slowest !== null) return { connection: slowest, reason: TOO_SLOW };
  const pausing = minBy(connections, (activity) => (pausesLong(activity) ? -activity.ageMs : null));
  if (pausing !== null) return { connection: pausing, reason: "it sent no words while others waited" };
  return null;
}

/** Whether it is a recording that no microphone can be sending. */
export function isTooSlow(
  activity: ConnectionActivity,
): activity is Extract<ConnectionActivity, { is: "sending" }> {
  return (
    activity.is === "sending" && activity.ageMs >= PACE_AFTER_MS && activity.bytesPerS < MIN_BYTES_A_SECOND
  );
}

function pausesLong(
  activity: ConnectionActivity,
): activity is Extract<ConnectionActivity, { is: "pausing" }> {
  return activity.is === "pausing" && activity.ageMs >= MAX_PAUSE_MS;
}

function minBy<T>(
  connections: readonly (readonly [T, ConnectionActivity])[],
  measure: (activity: ConnectionActivity) => number | null,
): T | null {
  let min: { readonly connection: T; readonly value: number } | null = null;
  for (const [connection, activity] of connections) {
    const value = measure(activity);
    if (value !== null && (min === null || value < min.value)) min = { connection, value };
  }
  return min?.connection ?? null;
}

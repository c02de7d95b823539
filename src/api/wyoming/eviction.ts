export type ConnectionActivity =
  | { readonly is: "idle" }
  /** The client has sent part of an event, or is over its budget. The server is doing nothing for it. */
  | { readonly is: "unasked" }
  /** The client opened a recording or a text and has sent nothing of it. */
  | { readonly is: "empty"; readonly ageMs: number }
  /** The client is sending a recording; `bytesPerS` is its recent rate. */
  | { readonly is: "sending"; readonly ageMs: number; readonly bytesPerS: number }
  /** Everything received of the client's text was spoken. `ageMs`: milliseconds without a new word. */
  | { readonly is: "pausing"; readonly ageMs: number }
  | { readonly is: "served" };

export interface Eviction<T> {
  readonly connection: T;
  readonly reason: string;
}

/** A quarter of the slowest accepted audio (8 kHz, 16 bits), which any microphone exceeds. */
const MIN_BYTES_A_SECOND = 4_000;
const PACE_AFTER_MS = 1_000;
/** Time that a client may take between two words of a text. */
const MAX_PAUSE_MS = 10_000;

export const TOO_SLOW = "it sent too slowly while others waited";

/**
 * Chooses the connection to end for a new one: an idle one, one inside an event or over its budget, one that sent
 * nothing of its recording or text, the slowest recording that no microphone can be sending, then a text that has
 * paused too long. Within a kind the oldest goes. Returns `null` if all are in good use.
 *
 * @param connections oldest first
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

import type { Bench } from "../row.ts";

/** What a simulated user's moments are drawn by: `REALTIME_SEED`, or another each time; it is noted. */
export function seedOf({ note }: Pick<Bench, "note">): number {
  const seed = Number(process.env.REALTIME_SEED ?? Math.floor(Math.random() * 2 ** 31));
  note(`REALTIME_SEED=${seed}`);
  return seed;
}

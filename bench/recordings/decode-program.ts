import { BOMBS, type BombName } from "../../test/audio/recordings/bombs.ts";
import { decoded } from "./decoded.ts";

/** What decoding a file took. */
export interface DecodingCost {
  /** Processor time, in seconds. */
  readonly cpuS: number;
  /** What became of it: `decoded`, or why not. */
  readonly outcome: string;
}

/** Makes the file that the first message names, decodes it, tells what that took, and ends. */
process.once("message", async (name: BombName) => {
  const bytes = BOMBS[name]();
  const before = process.cpuUsage();
  const outcome = await decoded(bytes).then(
    () => "decoded",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const { user, system } = process.cpuUsage(before);
  const cost: DecodingCost = { cpuS: (user + system) / 1e6, outcome };
  process.send?.(cost, () => process.exit());
});
// Nobody is left to be told.
process.once("disconnect", () => process.exit());

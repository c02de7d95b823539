import { runLoad } from "./load/load-job.ts";
import { percentile } from "./load/percentile.ts";
import type { ServerProcess } from "./load/server-process.ts";
import { type Held, heldOf, tenWords } from "./load/service-speed.ts";
import { authored, SHORT_HISTORIES } from "./writer-server.ts";

/** What eight streams and one client whose turns are written do to each other. */
export interface BesideStreams {
  readonly held: Held;
  /** Turns of which something was spoken, and how long the first audio of the one in the middle took; `null` of none. */
  readonly turns: number;
  readonly firstAudioMs: number | null;
}

/** Eight clients play in real time while a ninth has turn after turn written. */
export async function besideStreams(server: ServerProcess, durationMs: number): Promise<BesideStreams> {
  const streams = runLoad({
    ...tenWords(server, 8),
    pace: "real time",
    pauseMs: { start: 2_000, between: 0 },
    durationMs: durationMs + 2_000,
  });
  const turns = runLoad({ ...authored(server, SHORT_HISTORIES), durationMs: durationMs + 2_000 });
  const held = heldOf(await streams);
  const firstAudios = (await turns).flatMap(({ firstAudioMs }) => firstAudioMs ?? []);
  return {
    held,
    turns: firstAudios.length,
    firstAudioMs: firstAudios.length === 0 ? null : percentile(firstAudios, 0.5),
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import type { BodyRecipe } from "../crowd/body-recipe.ts";
import { type CrowdServer, startCrowdServer } from "../crowd/crowd-server.ts";
import { describeTally, startHostile } from "../crowd/hostile.ts";
import type { HostileGroup } from "../crowd/hostile-job.ts";
import { type Pauses, pausesDuring } from "../crowd/pause-watch.ts";
import { runLoad } from "../load/load-job.ts";
import { converseBody, heldOf, TURNS, tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/**
 * The event loop's longest lag at `/metrics`, read every second, and the longest `GET /health`, asked twenty
 * times a second by another process, while two keys send for 60 s as fast as the server takes it.
 */
export const pauses: Row = {
  id: "pauses",
  what:
    "longest pause of the main thread, and longest `GET /health`, while bodies of 12 MB of brackets, 35 to 105 MB of audio " +
    "and uploads that are reset come in without end, and one stream plays; without them",
  goal: "pause ≤ 100 ms",
  async measure({ isQuick, note }) {
    const server = await startCrowdServer(3);
    try {
      const quiet = await played(server, isQuick ? 1_500 : 10_000);
      const hostile = await startHostile(server.url, bodiesOf(server.keys.slice(1)));
      const busy = await played(server, isQuick ? 4_000 : 60_000);
      note(describeTally(await hostile.stop()));
      const { underruns, frames, failures } = busy.held;
      const broken = failures === 0 ? "" : `, ${failures} failures`;
      return {
        measured:
          `${described(busy.pauses)}; without ${described(quiet.pauses)}; ` +
          `${underruns} of ${frames} frames late${broken}`,
        isMet: busy.pauses.maxMs <= 100 && failures === 0,
      };
    } finally {
      await server.stop();
    }
  },
};

/** One client plays turn after turn. */
async function played(server: CrowdServer, durationMs: number) {
  const stream = runLoad({
    ...tenWords(server, 1),
    key: server.keys[0] ?? "",
    bodies: TURNS.map(converseBody),
    pace: "real time",
    durationMs,
  });
  const { result, pauses } = await pausesDuring(server, stream);
  // The server sees the last one leave.
  await sleep(200);
  return { held: heldOf(result), pauses };
}

function described({ maxMs, healthMs, healthLooks, waitingShare }: Pauses): string {
  const waiting =
    waitingShare === null ? "" : ` (no core for it ${(100 * waitingShare).toFixed(0)} % of the time)`;
  return `${maxMs.toFixed(0)} ms, ${healthMs.toFixed(0)} ms of ${healthLooks}${waiting}`;
}

function bodiesOf([key = "", other = ""]: readonly string[]): HostileGroup[] {
  const groups: HostileGroup[] = [];
  const add = (group: Pick<HostileGroup, "path" | "body"> & Partial<HostileGroup>): void => {
    const { body, path, sends = "all" } = group;
    const name = `${sends === "half" ? "reset " : ""}${body.kind} ${path}`;
    const usual = {
      key: groups.length % 2 === 0 ? key : other,
      clients: 1,
      reads: "everything",
      holdMs: 0,
    } as const;
    groups.push({ ...usual, name, sends, pauseMs: 20, ...group });
  };
  for (const path of ["/v1/converse", "/v1/converse/stream", "/v1/tts"] as const) {
    add({ path, body: { kind: "nested", bytes: 12e6 } });
    add({ path, body: { kind: "flat", bytes: 12e6 } });
    add({ path, body: { kind: "flat", bytes: 12e6 }, sends: "half", clients: 2 });
  }
  for (const path of ["/v1/converse", "/v1/converse/stream"] as const) {
    add({ path, body: ONE_TURN });
    add({ path, body: THREE_TURNS });
    add({ path, body: THREE_TURNS, sends: "half", clients: 2 });
  }
  for (const kind of ["nested", "flat"] as const) {
    add({ path: "/v1/audio/speech", body: { kind, bytes: 512 * 1024 } });
    add({ path: "/v1/audio/speech", body: { kind, bytes: 512 * 1024 }, sends: "half" });
  }
  return groups;
}

const TURN_BYTES = 25 * 2 ** 20;
const AUDIO = { kind: "audio", bits: 16, rateHz: 24_000, chars: 40 } as const;
const ONE_TURN: BodyRecipe = { ...AUDIO, clips: [TURN_BYTES] };
const THREE_TURNS: BodyRecipe = { ...AUDIO, clips: [TURN_BYTES, TURN_BYTES, TURN_BYTES] };

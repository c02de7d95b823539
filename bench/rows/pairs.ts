import { execFileSync } from "node:child_process";
import { firstAudioMs } from "../first-audio-ms.ts";
import { median } from "../load/percentile.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { oneClient } from "../load/service-speed.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { processorMs, residentMb } from "../resident.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

const MAX_RATIO = 1.05;
/** What a request costs while the server still compiles says nothing of what it costs afterwards. */
const WARM_UP_REQUESTS = 100;

/** This build and another, each started in turn, first one and then the other first. */
export const pairs: Row = {
  id: "pairs",
  what: "this build ÷ the one in the folder of `--against`, both without a writer: start, first audio p50 and p95, CPU a request, memory idle and after",
  goal: `each ≤ ${MAX_RATIO}`,
  isOnlyByName: true,
  async measure({ isQuick, against, note }) {
    if (against === null) throw new NotMeasuredError("not measured: --against names a built checkout");
    if (process.platform !== "linux") throw new NotMeasuredError("not measured: it reads /proc");
    const ratios: Record<Figure, number[]> = { start: [], p50: [], p95: [], cpu: [], idle: [], after: [] };
    for (let pair = 0; pair < (isQuick ? 2 : 8); pair++) {
      const requests = isQuick ? 30 : 150;
      const isOursFirst = pair % 2 === 0;
      const first = await figuresOf(isOursFirst ? TOP : against, requests);
      const second = await figuresOf(isOursFirst ? against : TOP, requests);
      const [ours, theirs] = isOursFirst ? [first, second] : [second, first];
      note(`${described(ours)} against ${described(theirs)}`);
      for (const figure of FIGURES) ratios[figure].push(ours[figure] / theirs[figure]);
    }
    const middles = FIGURES.map((figure) => ({ figure, ratio: median(ratios[figure]) }));
    return {
      measured: `${middles.map(({ figure, ratio }) => `${figure} ${ratio.toFixed(3)}`).join(", ")} (medians of ${ratios.start.length} pairs)`,
      isMet: middles.every(({ ratio }) => ratio <= MAX_RATIO),
    };
  },
};

/** Times in milliseconds, memory in MiB. */
const FIGURES = ["start", "p50", "p95", "cpu", "idle", "after"] as const;
type Figure = (typeof FIGURES)[number];
type Figures = Readonly<Record<Figure, number>>;

async function figuresOf(tree: string, requests: number): Promise<Figures> {
  const server = await startServerOf(tree);
  try {
    const idle = await residentMb(server.pid);
    await oneClient(server, WARM_UP_REQUESTS);
    const before = processorMs(server.pid);
    const { p50, p95 } = firstAudioMs(await oneClient(server, requests));
    const cpu = (processorMs(server.pid) - before) / (requests + ITS_OWN_WARM_UP);
    return { start: server.startMs, p50, p95, cpu, idle, after: await residentMb(server.pid) };
  } finally {
    await server.stop();
  }
}

/** Those of `oneClient`. */
const ITS_OWN_WARM_UP = 10;

/** Its key is made by its own build, whose store may be of another version. */
async function startServerOf(tree: string): Promise<ServerProcess> {
  const program = "dist/src/cli/main.js";
  let key = "";
  const server = await startServerProcess({
    // Weights of a writer belong to a build: one build would load its writer, the other might have none.
    serve: {
      command: "env",
      args: ["ANTIPHON_WRITER_KIND=none", process.execPath, program, "serve", "--no-pull"],
      ...{ cwd: tree, isWrapper: false },
    },
    key: "made by itself",
    async prepare(dataDir) {
      const made = execFileSync(
        process.execPath,
        [program, "keys", "create", "--label", "bench", "--json", "--data-dir", dataDir].concat([
          "--rpm",
          "1000000",
          "--burst",
          "1000000",
        ]),
        { cwd: tree, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
      );
      key = (JSON.parse(made) as { key: string }).key;
    },
  });
  return { ...server, key };
}

function described(figures: Figures): string {
  return FIGURES.map((figure) => `${figure} ${figures[figure].toFixed(1)}`).join(", ");
}

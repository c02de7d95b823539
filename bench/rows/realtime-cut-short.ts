import { setTimeout as sleep } from "node:timers/promises";
import { type Exchange, exchange } from "../realtime/exchange.ts";
import { humanTurns } from "../realtime/people.ts";
import { withScriptedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import type { Row } from "../row.ts";

/** Recordings with so long a pause in them may be taken for ended there. */
const MIN_PAUSE_S = 0.2;

/**
 * Each recording once, by a user who talks on whatever comes. Cut short: audio of a reply came before the
 * end of speech. Ended too early: `speech_stopped` came before it.
 */
export const realtimeCutShort: Row = {
  id: "realtime-cut-short",
  what: "turns of people (semantic turn detection, medium) into which a reply was spoken while they went on; the same of turns with a pause of 0.2 s and more; turns taken for ended too early, heard or not",
  goal: "≤ 10 %",
  async measure(bench) {
    const all = await humanTurns(bench);
    const seed = seedOf(bench);
    const turns = bench.isQuick ? all.filter((_, at) => at % 3 === 0) : all;
    const exchanges = await withScriptedWriter("Yes. I see.", async ({ url, key }) => {
      const user = await SimulatedUser.open({ url, key, seed });
      const found: (Exchange & { readonly hasPause: boolean })[] = [];
      try {
        for (const turn of turns) {
          await sleep(300 + 700 * user.random.uniform());
          found.push({ ...(await exchange(user, turn)), hasPause: turn.pauseS >= MIN_PAUSE_S });
        }
      } finally {
        await user.close();
      }
      return found;
    });
    const cut = exchanges.filter(({ isCutShort }) => isCutShort);
    const early = exchanges.filter(({ isEndedEarly }) => isEndedEarly);
    const paused = exchanges.filter(({ hasPause }) => hasPause);
    const cutPaused = cut.filter(({ hasPause }) => hasPause);
    const share = (100 * cut.length) / exchanges.length;
    return {
      measured: `${cut.length} of ${exchanges.length} (${share.toFixed(0)} %); ${cutPaused.length} of ${paused.length}; ${early.length}`,
      isMet: share <= 10,
    };
  },
};

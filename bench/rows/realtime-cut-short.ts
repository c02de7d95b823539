import { converse } from "../realtime/exchange.ts";
import { humanTurns } from "../realtime/people.ts";
import { withScriptedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import type { Row } from "../row.ts";

/** Recordings with so long a pause in them may be taken for ended there. */
const MIN_PAUSE_S = 0.2;

export const realtimeCutShort: Row = {
  id: "realtime-cut-short",
  what: "turns of people with pauses within them (semantic turn detection, medium) into which a reply was spoken while they went on; taken for ended too early, heard or not",
  goal: "≤ 10 %",
  async measure(bench) {
    const turns = (await humanTurns(bench)).filter(({ pauseS }) => pauseS >= MIN_PAUSE_S);
    const seed = seedOf(bench);
    const exchanges = await withScriptedWriter("Yes. I see.", async ({ url, key }) => {
      const user = await SimulatedUser.open({ url, key, seed });
      try {
        return await converse(user, turns, { count: bench.isQuick ? 8 : 60 });
      } finally {
        await user.close();
      }
    });
    const cut = exchanges.filter(({ isCutShort }) => isCutShort).length;
    const early = exchanges.filter(({ isEndedEarly }) => isEndedEarly).length;
    return {
      measured: `${cut} of ${exchanges.length} (${((100 * cut) / exchanges.length).toFixed(0)} %); ${early}; ${turns.length} recordings`,
      isMet: cut <= 0.1 * exchanges.length,
    };
  },
};

import { startServerProcess } from "../load/server-process.ts";
import { holdsStreams, maxHeld, oneClient } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/**
 * Clients play turns of five to ten seconds without a pause, with 200 ms in hand, and stop reading 480 ms
 * ahead. A number of clients is held if none has an underrun, a failure or a first frame later than a
 * second, for 20 s (8 s below 48 streams).
 */
export const streams: Row = {
  id: "streams",
  what: "real-time streams held for 20 s without an underrun",
  goal: "≥ 48",
  async measure({ isQuick, note }) {
    const server = await startServerProcess();
    try {
      await oneClient(server, 10);
      const steps = isQuick ? [16, 48] : STEPS;
      const { most, tried } = await maxHeld(steps, async (clients) => {
        const held = await holdsStreams(server, clients, isQuick ? 5_000 : clients < 48 ? 8_000 : 20_000);
        note(
          `${clients} streams: ${held.underruns} underruns in ${held.frames} frames, ${held.failures} failures, ` +
            `longest wait for first audio ${held.worstFirstAudioMs.toFixed(0)} ms`,
        );
        return held;
      });
      const [failed, held] = [...tried].find(([, { isHeld }]) => !isHeld) ?? [];
      const beyond =
        held === undefined
          ? ""
          : `; with ${failed}, ${held.underruns} of ${held.frames} frames late, first audio after ${held.worstFirstAudioMs.toFixed(0)} ms at worst`;
      return { measured: `${most}${beyond}`, isMet: most >= 48 };
    } finally {
      await server.stop();
    }
  },
};

const STEPS: readonly number[] = [16, 32, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 256, 320, 384];

import { CHROMIUM, runInPage } from "../../test/client/browser.ts";
import { startServerProcess } from "../load/server-process.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { Row } from "../row.ts";

/**
 * 30 replies of four words in headless Chromium, from the first frame in the page to the first sample that
 * is not silent in an audio worklet; 30 ms are the player's lead.
 */
export const player: Row = {
  id: "player",
  what: "from the first frame in a page to its sound in the audio thread, by the client's player in Chromium",
  goal: "p95 ≤ 60 ms, no underruns",
  async measure({ isQuick }) {
    if (CHROMIUM === "") throw new NotMeasuredError("there is no Chromium on this machine");
    const server = await startServerProcess();
    try {
      const page = PAGE.replace("REPLIES", isQuick ? "5" : "30");
      const found = (await runInPage(server, page, FIRST_SOUND)) as Found;
      if ("error" in found) throw new Error(found.error);
      const sorted = found.firstMs.toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
      return {
        measured:
          `p50 ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms of ${sorted.length}; ` +
          `${found.underruns} underruns; the device adds ${found.latencyMs.toFixed(0)} ms by its own account`,
        isMet: at(0.95) <= 60 && found.underruns === 0,
      };
    } finally {
      await server.stop();
    }
  },
};

type Found =
  | { readonly error: string }
  | { readonly firstMs: readonly number[]; readonly underruns: number; readonly latencyMs: number };

/** Tells when the first sample that is not silent is played, once for every time that it is asked. */
const FIRST_SOUND = `
registerProcessor("first-sound", class extends AudioWorkletProcessor {
  isAsked = false;
  constructor() {
    super();
    this.port.onmessage = () => { this.isAsked = true; };
  }
  process([[samples]]) {
    if (this.isAsked && samples?.some((sample) => sample !== 0)) {
      this.isAsked = false;
      this.port.postMessage(null);
    }
    return true;
  }
});
`;

const PAGE = `
const { Antiphon } = await import("/client/antiphon.js");
const { Player, wakeSound } = await import("/client/player.js");
const antiphon = new Antiphon({ baseUrl: "" });
const context = wakeSound();
await context.audioWorklet.addModule("/worklet.js");
const destination = new AudioWorkletNode(context, "first-sound");
destination.connect(context.destination);
const firstMs = [];
let underruns = 0;
for (let reply = 0; reply < REPLIES; reply++) {
  let cameMs = 0;
  async function* noted(events) {
    for await (const event of events) {
      if (event.event === "audio") cameMs ||= performance.now();
      yield event;
    }
  }
  const sounded = new Promise((resolve) => {
    destination.port.onmessage = () => resolve(performance.now());
    destination.port.postMessage(null);
  });
  const player = new Player({ context, destination });
  const over = player.play(noted(antiphon.stream({ conversation: [{ text: "The kettle is on." }] })));
  firstMs.push(await sounded - cameMs);
  await over;
  underruns += player.underruns;
}
report({ firstMs, underruns, latencyMs: 1000 * (context.outputLatency ?? 0) });
`;

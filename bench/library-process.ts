import { setTimeout as sleep } from "node:timers/promises";
import { open } from "../src/library/antiphon.ts";
import { residentKb } from "./resident.ts";

/** Resident memory of a program that opens Antiphon, says something and closes it again and again, in MiB. */
export interface LibraryMemory {
  readonly before: number;
  /** While the first one is open, and has spoken. */
  readonly speaking: number;
  /** After each was closed. */
  readonly closed: readonly number[];
}

const [, , dataDir = "", times = "5"] = process.argv;
const TEXT = "We met at the harbour, well before sunrise. The kettle is on.";

const residentMb = () => residentKb(process.pid) / 1_024;

const before = residentMb();
let speaking = 0;
const closed: number[] = [];
for (let time = 0; time < Number(times); time++) {
  const antiphon = await open({ dataDir });
  for await (const _ of antiphon.say(TEXT));
  speaking ||= residentMb();
  await antiphon.close();
  // What threads had is given back when the system has ended them, and the rest when garbage is collected.
  for (let look = 0; look < 4; look++) {
    await sleep(250);
    globalThis.gc?.();
  }
  closed.push(residentMb());
}
process.stdout.write(JSON.stringify({ before, speaking, closed } satisfies LibraryMemory));

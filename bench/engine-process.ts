import { createInterface } from "node:readline";
import { SAMPLE_RATE_HZ } from "../src/audio/format.ts";
import { createParametricModel } from "../src/engines/embedded/model.ts";
import { embeddedCheckpoint } from "../src/models/installed-checkpoint.ts";
import { plainScript } from "./plain-script.ts";

/** The engine alone, in one thread: answers each line of JSON [text, …] with the CPU time that they took. */
const voice = await createParametricModel({ voiceDir: embeddedCheckpoint.dir });
process.stdout.write("{}\n");

for await (const line of createInterface({ input: process.stdin })) {
  const texts = JSON.parse(line) as string[];
  const begun = process.cpuUsage();
  let samples = 0;
  for (const text of texts) {
    for await (const frame of voice.speak(plainScript(text, "0"), new AbortController().signal)) {
      samples += frame.samples.length;
    }
  }
  const { user, system } = process.cpuUsage(begun);
  process.stdout.write(
    `${JSON.stringify({ cpu_s: (user + system) / 1e6, audio_s: samples / SAMPLE_RATE_HZ })}\n`,
  );
}
await voice.close();

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../src/audio/encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../src/audio/format.ts";
import { toPcm16 } from "../src/audio/pcm.ts";
import type { Script } from "../src/core/script.ts";
import { openEmbeddedVoice } from "../src/server/voices/embedded-voice.ts";
import { followingScript, plainScript } from "./plain-script.ts";
import { Pythons } from "./python.ts";
import { readClip } from "./read-clip.ts";
import { references } from "./references.ts";
import { speechOf } from "./speech-of.ts";
import { TOP } from "./top.ts";

/**
 * Draws `docs/voices-spectrogram.png`: a sentence as the voice says it, the same after it heard a reader of LibriVox
 * (whose recordings are in the public domain), and the reader himself in words that the voice did not hear.
 */
const SENTENCE = "The beauty of the view stunned the young boy.";
const SECONDS = 2.2;
const INTO = join(TOP, "docs", "voices-spectrogram.png");

const note = (text: string) => process.stderr.write(`${text}\n`);
const python = new Pythons(note);
const reader = (await references(python, note)).find(({ name }) => name === "libri");
if (reader === undefined) throw new Error("There is no reader of LibriVox among the references.");
const folder = await mkdtemp(join(tmpdir(), "antiphon-picture-"));
const voice = await openEmbeddedVoice({ threads: 1 });
const drawing = await python.start("spectrogram.py");
try {
  const before = await rendered("before.wav", plainScript(SENTENCE, "0"));
  const after = await rendered("after.wav", followingScript(SENTENCE, await readClip(reader.clip)));
  const panels = [
    { title: "before", path: before },
    { title: "after hearing him", path: after },
    { title: "the man himself", path: reader.heldOut, fromS: 0.1 },
  ];
  note(`${INTO}: ${await drawing.ask({ panels, seconds: SECONDS, into: INTO })}`);
} finally {
  await Promise.all([drawing.close(), voice.close(), rm(folder, { recursive: true, force: true })]);
}

async function rendered(name: string, script: Script): Promise<string> {
  const path = join(folder, name);
  const { samples } = await speechOf(voice, script);
  await writeFile(path, encodeWav(toPcm16(samples), SAMPLE_RATE_HZ));
  return path;
}

// Lets the product's own people say the Harvard sentences, and the default voice after it has heard clips of Kokoro's voices:
// .cache/heard/NAME/N.wav, for judge.mjs.
//
//     node ours.mjs --sentences 28 0 1 2 3 4 like:am_michael like:bf_emma
//
// With --texts spanish-held-out.txt, those sentences.
//
// A clip is eight of the Harvard sentences behind those that are said, as the teacher said them.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { sentencesOf } from "./sentences.mjs";

const { values, positionals } = parseArgs({
  options: { sentences: { type: "string", default: "28" }, texts: { type: "string" } },
  allowPositionals: true,
});
const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { openEmbeddedVoice } = await dist("src/server/voices/embedded-voice.js");
const { encodeWav } = await dist("src/audio/encode-wav.js");
const { toPcm16 } = await dist("src/audio/pcm.js");
const { decodeWav } = await dist("src/audio/decode-wav.js");
const { plainScript, followingScript } = await dist("bench/plain-script.js");
const { speechOf } = await dist("bench/speech-of.js");

const RATE_HZ = 24_000;
const CLIP_SENTENCES = 8;
const cache = new URL(".cache/", import.meta.url);
const count = Number(values.sentences);
const texts = (await sentencesOf(values.texts)).slice(0, count);
const voice = await openEmbeddedVoice({ threads: 1 });
for (const who of positionals) {
  const name = who.startsWith("like:") ? `following-${who.slice(5)}` : `people-${who}`;
  const clip = who.startsWith("like:") ? await clipOf(who.slice(5)) : null;
  const folder = new URL(`heard/${name}/`, cache);
  await mkdir(folder, { recursive: true });
  for (const [index, text] of texts.entries()) {
    const { samples } = await speechOf(
      voice,
      clip === null ? plainScript(text, who) : followingScript(text, clip),
    );
    await writeFile(new URL(`${index}.wav`, folder), encodeWav(toPcm16(samples), RATE_HZ));
  }
}
await voice.close();

async function clipOf(teacher) {
  const parts = [];
  for (let index = count; index < count + CLIP_SENTENCES; index++) {
    parts.push(...decodeWav(await readFile(new URL(`heard/teacher-${teacher}/${index}.wav`, cache))).samples);
  }
  return {
    samples: Float32Array.from(parts),
    sampleRateHz: RATE_HZ,
    durationS: parts.length / RATE_HZ,
    digest: teacher,
  };
}

// Says how loud people are, in LUFS, before they are made as loud as the voice itself: over the bench's sentences.
//
//     node loudness.mjs 5 6
//     node loudness.mjs --texts spanish-held-out.txt 13 14
import { parseArgs } from "node:util";
import { sentencesOf } from "./sentences.mjs";

const { values, positionals } = parseArgs({ options: { texts: { type: "string" } }, allowPositionals: true });
const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { openEmbeddedVoice } = await dist("src/server/voices/embedded-voice.js");
const { createVoices } = await dist("src/engines/embedded/speakers.js");
const { loudnessOf } = await dist("src/audio/loudness.js");
const { joinSamples } = await dist("src/audio/pcm.js");
const { plainScript } = await dist("bench/plain-script.js");
const { speechOf } = await dist("bench/speech-of.js");

const SENTENCES = 28;
const texts = (await sentencesOf(values.texts)).slice(0, SENTENCES);
const voice = await openEmbeddedVoice({ threads: 1 });
for (const label of positionals) {
  const parts = [];
  for (const text of texts) parts.push((await speechOf(voice, plainScript(text, label))).samples);
  const gainDb = 20 * Math.log10(createVoices().get(label).gain);
  console.log(`"${label}": ${(loudnessOf(joinSamples(parts), 24_000) - gainDb).toFixed(1)},`);
}
await voice.close();

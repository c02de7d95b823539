// Says how loud people are, in LUFS, before they are made as loud as the voice itself: over the bench's sentences.
//
//     node loudness.mjs 5 6
const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { openEmbeddedVoice } = await dist("src/server/voices/embedded-voice.js");
const { createVoices } = await dist("src/engines/embedded/speakers.js");
const { loudnessOf } = await dist("src/audio/loudness.js");
const { joinSamples } = await dist("src/audio/pcm.js");
const { harvardSentences, written } = await dist("bench/harvard.js");
const { plainScript } = await dist("bench/plain-script.js");
const { speechOf } = await dist("bench/speech-of.js");

const SENTENCES = 28;
const texts = (await harvardSentences()).slice(0, SENTENCES).map(written);
const voice = await openEmbeddedVoice({ threads: 1 });
for (const label of process.argv.slice(2)) {
  const parts = [];
  for (const text of texts) parts.push((await speechOf(voice, plainScript(text, label))).samples);
  const gainDb = 20 * Math.log10(createVoices().get(label).gain);
  console.log(`"${label}": ${(loudnessOf(joinSamples(parts), 24_000) - gainDb).toFixed(1)},`);
}
await voice.close();

// Judges what is in .cache/heard/NAME/ with the bench's meters: P.808, the speaker embedding's cosine to the teacher's, words that
// Whisper base mishears, clicks, thumps and buzz.
//
//     node judge.mjs --to teacher-am_michael --sentences 28 teacher-am_michael am_michael am_michael-told people-1
//     node judge.mjs --to teacher-ef_dora --texts spanish-held-out.txt --sentences 40 teacher-ef_dora people-13
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sentencesOf } from "./sentences.mjs";

const { values, positionals } = parseArgs({
  options: {
    to: { type: "string" },
    sentences: { type: "string", default: "28" },
    texts: { type: "string" },
    "no-words": { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { decodeWav } = await dist("src/audio/decode-wav.js");
const { encodeWav } = await dist("src/audio/encode-wav.js");
const { toPcm16 } = await dist("src/audio/pcm.js");
const { Pythons } = await dist("bench/python.js");
const { sentencesQuality, cosine } = await dist("bench/quality.js");
const { startWhisper, heardOf } = await dist("bench/whisper.js");
const { SPANISH } = await dist("src/text/languages/es/spanish.js");
const { RewrittenText } = await dist("src/text/rewritten-text.js");
const { clicksIn } = await dist("bench/sound/clicks.js");
const { loudestIn, THUMP_DB } = await dist("bench/sound/thumps.js");
const { buzzIn } = await dist("bench/sound/buzz.js");

const RATE_HZ = 24_000;
const FRAME_SAMPLES = 1_920;
const AROUND_SAMPLES = RATE_HZ / 10;
const said = (await sentencesOf(values.texts)).slice(0, Number(values.sentences));
const temporary = await mkdtemp(join(tmpdir(), "judge-"));
const python = new Pythons(console.error);
const meters = await python.start("quality.py");
const whisper = values["no-words"]
  ? null
  : await startWhisper(python, values.texts === undefined ? "en" : "es");
const target = values.to === undefined ? null : await qualityOf(values.to);
console.log(
  "name                         P.808  cosine  words wrong   clicks  thumps  worst   buzz  seconds",
);
for (const name of positionals) {
  const { quality, trimmed, samples } = await qualityOf(name);
  const heard = whisper === null ? null : await heardOf(whisper, trimmed, values.texts && inSpanishWords);
  // 16 bits have exact zeros, which the meter would take for samples that were left out.
  const frames = samples.map((each) => framesOf(each.map((value) => value + 1e-6)));
  const over = samples.map((each) => loudestIn(each).overDb);
  console.log(
    [
      name.padEnd(28),
      quality.p808.toFixed(2),
      target === null ? "     –" : cosine(quality, target.quality).toFixed(3).padStart(6),
      heard === null
        ? "          –"
        : `${heard.errors}/${heard.words} ${(heard.errors / heard.words).toFixed(3)}`.padStart(12),
      String(frames.reduce((sum, each) => sum + clicksIn(each), 0)).padStart(7),
      String(over.filter((overDb) => overDb > THUMP_DB).length).padStart(7),
      `${Math.max(...over).toFixed(1)} dB`.padStart(7),
      buzzIn(samples).toFixed(2).padStart(6),
      (samples.reduce((sum, each) => sum + each.length, 0) / RATE_HZ / samples.length).toFixed(2).padStart(7),
    ].join("  "),
  );
}
await meters.close();
await whisper?.close();
await rm(temporary, { recursive: true });

/** Silence at both ends is cut to 0.1 s for the meters, so that it is alike for all. */
async function qualityOf(name) {
  const samples = [];
  const trimmed = [];
  for (const [index, sentence] of said.entries()) {
    const path = fileURLToPath(new URL(`.cache/heard/${name}/${index}.wav`, import.meta.url));
    const whole = decodeWav(await readFile(path)).samples;
    samples.push(whole);
    const peak = whole.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const isLoud = (value) => Math.abs(value) > 0.01 * peak;
    const [from, to] = [whole.findIndex(isLoud), whole.findLastIndex(isLoud)];
    const part = whole.slice(Math.max(0, from - AROUND_SAMPLES), to + AROUND_SAMPLES);
    const into = join(temporary, `${name}-${index}.wav`);
    await writeFile(into, encodeWav(toPcm16(part), RATE_HZ));
    trimmed.push({ sentence, path: into });
  }
  return { quality: await sentencesQuality(meters, trimmed), trimmed, samples };
}

function inSpanishWords(heard) {
  return SPANISH.normalise(RewrittenText.of(heard)).text;
}

function framesOf(samples) {
  return Array.from({ length: Math.ceil(samples.length / FRAME_SAMPLES) }, (_, at) =>
    samples.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES),
  );
}

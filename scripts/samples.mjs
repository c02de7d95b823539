// Makes the samples that README.md links to, docs/samples/*.mp3, and prints their sizes:
//
//   npm run build && node scripts/samples.mjs
//
// A server of its own speaks them at temperature 0, so one machine makes the same bytes every time.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Antiphon, bytesOf, encodeWav, toBase64 } from "antiphon/client";
import { decodeWav } from "../dist/src/audio/decode-wav.js";
import { openEncoder } from "../dist/src/audio/encode/open-encoder.js";
import { joinSamples, toPcm16 } from "../dist/src/audio/pcm.js";
import { resample } from "../dist/src/audio/resample.js";
import { EMBEDDED_VOICES } from "../dist/src/models/public-models.js";
import { startSampleServer } from "./sample-server.mjs";

const INTO = fileURLToPath(new URL("../docs/samples/", import.meta.url));
const RATE_HZ = 24_000;
const GAP = new Float32Array(0.3 * RATE_HZ);

const server = await startSampleServer({ ANTIPHON_RECOGNISER_KIND: "none" });
try {
  // Calls wait, by retrying, until the writer is there.
  const { baseUrl, apiKey } = server;
  const antiphon = new Antiphon({ baseUrl, apiKey, maxRetries: 100 });
  const puppy = { speaker: "0", text: "We finally adopted a puppy." };
  const sleep = { speaker: "0", text: "Did you sleep well?" };
  await save("plain-line", [await speak({ text: "The rain has stopped. Shall we go for a walk?" })]);
  await save("two-speakers", [
    await speak(sleep),
    await converse([sleep, { speaker: "1", text: "Like a log. And you?" }]),
  ]);
  await save(
    "more-people",
    await Promise.all(
      EMBEDDED_VOICES.slice(2).map(({ id: voice }) => speak({ text: "Good morning.", voice })),
    ),
  );
  await save("numbers-and-names", [
    await speak({ speaker: "1", text: "Dr. O'Neill paid £24.50 on 3 March." }),
  ]);
  await save("authored-reply", [await speak(puppy), await converse([puppy, { speaker: "1" }])]);
  await follow("earlier-turn-deep", 20_000, [
    { speaker: "0", text: "I could listen to this old song all night." },
    { speaker: "0", text: "Play it again." },
  ]);
  await follow("earlier-turn-bright", 28_000, [
    { speaker: "1", text: "I have been up since half past five." },
    { speaker: "1", text: "Is there any coffee?" },
  ]);

  async function speak(request) {
    const { audio } = await antiphon.tts({ ...request, params: { temperature: 0 } });
    return decodeWav(bytesOf(audio.data_b64)).samples;
  }

  async function converse(conversation) {
    const { reply } = await antiphon.converse({ conversation, params: { temperature: 0 } });
    if (conversation.at(-1).text === undefined) console.log(`written: ${reply.text}`);
    return decodeWav(bytesOf(reply.audio.data_b64)).samples;
  }

  /**
   * A turn in a voice that is neither of the two, and what the same speaker says next. The voice is ours, played at
   * another rate: slower it is deeper and has a longer vocal tract, faster the reverse.
   */
  async function follow(name, playedAtHz, [earlier, open]) {
    const heard = resample(await speak(earlier), playedAtHz, RATE_HZ);
    const audio_wav_b64 = toBase64(encodeWav([toPcm16(heard)]));
    await save(name, [heard, await converse([{ ...earlier, audio_wav_b64 }, open])]);
  }
} finally {
  await server.stop();
}

/** Writes an MP3 of parts, a short silence between them, by the encoder that the server has. */
async function save(name, parts) {
  const samples = joinSamples(parts.flatMap((part, index) => (index === 0 ? [part] : [GAP, part])));
  const encoder = await openEncoder("mp3");
  const file = Buffer.concat([encoder.push(toPcm16(samples)), encoder.end()]);
  encoder.free();
  mkdirSync(INTO, { recursive: true });
  writeFileSync(join(INTO, `${name}.mp3`), file);
  console.log(`${name}.mp3: ${(samples.length / RATE_HZ).toFixed(2)} s, ${file.length} bytes`);
}

// Speaks a text into a WAV file, frame by frame as it is computed.
//   ANTIPHON_KEY=ant_... node examples/save-wav.js "The kettle is on." kettle.wav
import { writeFile } from "node:fs/promises";
import { Antiphon, encodeWav } from "antiphon/client";

const [text = "Hello! It is good to hear from you.", file = "hello.wav"] = process.argv.slice(2);
const antiphon = new Antiphon({ baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080" });

const frames = [];
for await (const event of antiphon.stream({ conversation: [{ text }] })) {
  if (event.event === "audio") frames.push(event.pcm);
  if (event.event === "end") console.log(`${event.data.audio_seconds.toFixed(2)} s in ${file}`);
}
await writeFile(file, encodeWav(frames));

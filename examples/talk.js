// Converses: answers each line that you type, in words and in a WAV file, and remembers the conversation.
//   ANTIPHON_KEY=ant_... node examples/talk.js [folder]
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { Antiphon, AntiphonError, encodeWav } from "antiphon/client";

const [folder = "."] = process.argv.slice(2);
const antiphon = new Antiphon({ baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080" });
const said = [];
let replies = 0;

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue;
  // A request has at most 64 turns: the two that are added here, and the 62 before them.
  const conversation = [...said.slice(-62), { speaker: "0", text: line }, { speaker: "1" }];
  try {
    const frames = [];
    for await (const event of antiphon.stream({ conversation })) {
      if (event.event === "audio") frames.push(event.pcm);
      if (event.event !== "end") continue;
      said.push({ speaker: "0", text: line }, { speaker: "1", text: event.data.text });
      const file = join(folder, `reply-${++replies}.wav`);
      await writeFile(file, encodeWav(frames));
      console.log(`${event.data.text}  [${file}]`);
    }
  } catch (error) {
    if (!(error instanceof AntiphonError)) throw error;
    console.error(`No reply: ${error.message} (${error.type}, request ${error.requestId})`);
  }
}

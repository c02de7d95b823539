// Speaks without a server: node examples/in-process.js "What to say." [voice]
// Plays with the first player that this machine has, or writes said.wav.
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { open, SAMPLE_RATE } from "antiphon";

const [text = "The kettle is on. Tea in five minutes.", voice = "nova"] = process.argv.slice(2);
const PLAYERS = [
  ["ffplay", "-f", "s16le", "-ar", `${SAMPLE_RATE}`, "-nodisp", "-autoexit", "-loglevel", "quiet", "-"],
  ["aplay", "-q", "-f", "S16_LE", "-r", `${SAMPLE_RATE}`],
  ["play", "-q", "-t", "raw", "-e", "signed", "-b", "16", "-c", "1", "-r", `${SAMPLE_RATE}`, "-"],
];

const player = process.stdout.isTTY
  ? PLAYERS.find(([name]) => !spawnSync(name, ["--version"]).error)
  : undefined;
const child = player && spawn(player[0], player.slice(1), { stdio: ["pipe", "ignore", "ignore"] });
const pieces = [];

const antiphon = await open();
try {
  for await (const { samples, words } of antiphon.say(text, { voice })) {
    const pcm = Buffer.from(Int16Array.from(samples, (sample) => 32_767 * sample).buffer);
    if (child) child.stdin.write(pcm);
    else pieces.push(pcm);
    for (const { word, start } of words) console.log(`${start.toFixed(2)} s  ${word}`);
  }
} finally {
  child?.stdin.end();
  await antiphon.close();
}
if (!child) {
  const sound = Buffer.concat(pieces);
  const head = Buffer.alloc(44);
  head.write("RIFF");
  head.writeUInt32LE(36 + sound.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(2 * SAMPLE_RATE, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(sound.length, 40);
  writeFileSync("said.wav", Buffer.concat([head, sound]));
  console.log("Written: said.wav");
}

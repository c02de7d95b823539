import type { WantedRecording } from "../debian-recordings.ts";

const GAME = "games/fillets-ng";

/** Pieces of music, from 20 s on for 10 s: instruments alone. GPL-2, as the package's copyright file says. */
const MUSIC = [
  "menu",
  ...["01", "02", "03", "04", "05", "06", "07", "09", "10", "13", "14", "15"].map((at) => `rybky${at}`),
];

/** A dog, a motor, a piano, a room's music, a creak, a washing machine, a ticking clock. */
const EFFECTS = [
  "viking2/en/dr-x-pes",
  "engine/en/mot-x-motor",
  "cancan/en/kan-klavir-music",
  "creatures/en/kor-room-music",
  "cabin2/en/k1-x-vrz",
  "bathroom/en/br-x-pracka",
  "dump/en/sm-x-tiktak",
];

/** What was recorded and is nobody's speech. */
export const RECORDED_SOUNDS: readonly WantedRecording[] = [
  ...MUSIC.map((piece) => ({
    name: `music ${piece}`,
    package: "fillets-ng-data",
    pieces: [{ path: `${GAME}/music/${piece}.ogg`, fromS: 20, toS: 30 }],
  })),
  ...EFFECTS.map((file) => ({
    name: file.split("/").at(-1)!,
    package: "fillets-ng-data",
    pieces: [{ path: `${GAME}/sound/${file}.ogg`, toS: 10 }],
  })),
  ...["tt-monkeys", "ascending-2tone", "beeperr", "silence/5"].map((file) => ({
    name: file.replace("/", "-"),
    package: "asterisk-core-sounds-en-g722",
    pieces: [{ path: `asterisk/sounds/en_US_f_Allison/${file}.g722` }],
  })),
];

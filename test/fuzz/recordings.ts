import assert from "node:assert/strict";
import { AudioFormatError } from "../../src/audio/audio-format-error.ts";
import { RecordingTooLongError } from "../../src/audio/recordings/recording.ts";
import type { RecordingKind } from "../../src/audio/recordings/recording-kind.ts";
import { openSound } from "../../src/audio/recordings/recording-sound.ts";
import { makeWav } from "../audio/make-wav.ts";
import { flacFile } from "../audio/recordings/flac-writer.ts";
import { goldenRecording } from "../audio/recordings/golden-recordings.ts";
import { OPUS_HEAD, ogg, pagesOf, signed } from "../audio/recordings/ogg-writer.ts";
import { block, element, track, webm } from "../audio/recordings/webm-writer.ts";
import { bentBytes } from "./bent-bytes.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Maximum seconds of a recording here. */
const MAX_S = 5;
/** Memory for decoding beside the file, with WebAssembly's and garbage. */
const SPARE_BYTES = 64 * 2 ** 20;
/** Maximum CPU time per file, many times what the most expensive one takes. */
const MAX_CPU_MS = 2_000;

/** Fuzzes the decoder of a format with corrupted files. */
export function recordingFuzz(kind: RecordingKind): Fuzzer & Required<Pick<Fuzzer, "make" | "check">> {
  const files = FILES[kind];
  const others = Object.values(FILES).flat();
  const make = (random: Random): Uint8Array => {
    const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
    const bent = bentBytes(one(files)(random), one(others)(random), random);
    // With valid checksums, errors get further than the first page.
    const isMended = kind === "ogg" && random() < 0.7;
    return isMended ? new Uint8Array(Buffer.concat(pagesOf(bent).map(signed))) : bent;
  };
  return { make, check, run: (random) => check(make(random)), close: async () => {} };
}

async function check(file: Uint8Array): Promise<void> {
  const bound = takenBytes() + file.length + SPARE_BYTES;
  const began = process.cpuUsage();
  try {
    const sound = openSound(file, MAX_S);
    assert.ok(sound.boundS >= 0 && sound.boundS <= MAX_S, `${sound.boundS} s`);
    try {
      let length = 0;
      for (;;) {
        const samples = await sound.read(sound.sampleRateHz);
        if (samples.length === 0) break;
        length += samples.length;
        assert.ok(samples.every((sample) => sample >= -1 && sample <= 1));
        assert.ok(length <= MAX_S * sound.sampleRateHz + 1, "longer than allowed");
        assert.ok(length <= sound.boundS * sound.sampleRateHz + 1, "longer than its bound");
        assert.ok(takenBytes() < bound, "too much memory");
      }
      assert.ok(length > 0, "no samples and no error");
    } finally {
      await sound.close();
    }
  } catch (error) {
    if (error instanceof RecordingTooLongError) return;
    if (!(error instanceof AudioFormatError)) throw error;
    assert.match(error.message, /^undecodable audio: \S.+: send \S/);
    assert.ok(error.message.length < 300, "the error repeats the file");
  } finally {
    const { user, system } = process.cpuUsage(began);
    assert.ok((user + system) / 1_000 < MAX_CPU_MS, `${(user + system) / 1_000} ms of work`);
  }
}

/** Memory outside the heap: arrays and WebAssembly. */
function takenBytes(): number {
  return process.memoryUsage().external;
}

const golden = (name: string) => {
  const bytes = goldenRecording(name);
  return () => bytes;
};

const tone = Array.from({ length: 4_000 }, (_, at) => Math.round(9_000 * Math.sin(at / 9)));

/** Valid files by format, some of them generated. */
const FILES: Readonly<Record<RecordingKind, readonly ((random: Random) => Uint8Array)[]>> = {
  wav: [
    () => makeWav({ encoding: "s16", rateHz: 16_000, channels: [tone, tone] }),
    () => makeWav({ encoding: "f32", rateHz: 44_100, channels: [tone], dataSize: 0xffff_ffff }),
    () =>
      makeWav({
        encoding: "u8",
        rateHz: 8_000,
        channels: [tone.map((sample) => 128 + (sample >> 7))],
        dataSize: 0,
      }),
  ],
  mp3: [golden("mono-44100.mp3"), golden("stereo-22050.mp3")],
  flac: [
    golden("mono-16000.flac"),
    golden("stereo-44100.flac"),
    golden("stereo-8000-24.flac"),
    (random) => {
      const upTo = (most: number): number => Math.floor(random() * (most + 1));
      const way = () =>
        ({
          kind: (["verbatim", "constant", "fixed"] as const)[upTo(2)]!,
          order: upTo(4),
          wasted: 0,
          rice: random() < 0.3 ? null : upTo(14),
          partitionOrder: upTo(2),
        }) as const;
      const length = 4 * (5 + upTo(20));
      const channel = () => Array.from({ length }, () => 8 * (upTo(2_000) - 1_000));
      const assignment = [0, 1, 8, 9, 10][upTo(4)]!;
      const channels = assignment === 0 ? [channel()] : [channel(), channel()];
      return flacFile(channels, assignment, [way(), way()]);
    },
  ],
  ogg: [
    golden("mono.ogg"),
    golden("stereo.ogg"),
    (random) => ogg([OPUS_HEAD, new Uint8Array(16), ...opusPackets(random)], 1 + Math.floor(random() * 255)),
  ],
  webm: [
    golden("mono.webm"),
    (random) => {
      const lacing = Math.floor(random() * 4);
      const packets = opusPackets(random);
      const frames =
        lacing === 0 ? packets.slice(0, 1) : lacing === 2 ? packets.map(() => packets[0]!) : packets;
      const own = element([0xa3], block(frames, lacing));
      return webm([track(2, 2, "A_OPUS")], [own, own], random() < 0.5);
    },
  ],
};

/** Random packets, most of them of a few bytes. */
function opusPackets(random: Random): Uint8Array[] {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  return Array.from({ length: 1 + upTo(30) }, () =>
    Uint8Array.from({ length: random() < 0.8 ? upTo(4) : upTo(120) }, () => upTo(255)),
  );
}

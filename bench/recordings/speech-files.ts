import { openEncoder } from "../../src/audio/encode/open-encoder.ts";
import { encodeWav, wavHeader } from "../../src/audio/encode-wav.ts";
import { pcm16Bytes, toPcm16 } from "../../src/audio/pcm.ts";
import { mulaw } from "../../src/audio/pcm-format.ts";
import { resample } from "../../src/audio/resample.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { packetsOf } from "../../test/audio/recordings/ogg-writer.ts";
import { block, element, track, webm } from "../../test/audio/recordings/webm-writer.ts";
import { flacOf } from "./flac-of.ts";
import { mp3Of } from "./mp3-of.ts";

/** Speech as a file, by what it is. */
export type SpeechFiles = Readonly<Record<string, Uint8Array>>;

/** What two people say at the same time as files of all kinds that are read; of one channel it is what the first says. */
export async function speechFiles([first, second]: readonly [Clip, Clip]): Promise<SpeechFiles> {
  const at = (rateHz: number): Float32Array => resample(first.samples, first.sampleRateHz, rateHz);
  const both = (rateHz: number): Float32Array[] =>
    [first, second].map(({ samples, sampleRateHz }) => resample(samples, sampleRateHz, rateHz));
  const opus = await oggOf(at(24_000));
  return {
    "WAV 16 kHz": encodeWav(toPcm16(at(16_000)), 16_000),
    "WAV 48 kHz stereo": stereoWav(both(48_000), 48_000),
    "µ-law WAV": mulawWav(toPcm16(at(8_000))),
    "FLAC 16 kHz": flacOf([toPcm16(at(16_000))], 16_000),
    "FLAC 44.1 kHz stereo": flacOf(both(44_100).map(toPcm16), 44_100),
    "MP3 44.1 kHz": await mp3Of([at(44_100)], 44_100),
    "MP3 22.05 kHz stereo": await mp3Of(both(22_050), 22_050),
    "Opus in Ogg": opus,
    "Opus in WebM": webmOf(packetsOf(opus).slice(2)),
  };
}

function stereoWav(channels: readonly Float32Array[], rateHz: number): Uint8Array {
  const pcm = new Int16Array(2 * channels[0]!.length);
  for (const [index, channel] of channels.map(toPcm16).entries()) {
    for (let at = 0; at < channel.length; at += 1) pcm[2 * at + index] = channel[at]!;
  }
  const header = wavHeader(pcm.byteLength, rateHz, { bytesPerSample: 2, channels: 2 });
  return Buffer.concat([header, pcm16Bytes(pcm)]);
}

const MULAW = 7;

function mulawWav(pcm: Int16Array): Uint8Array {
  const header = Buffer.from(wavHeader(pcm.length, 8_000, { bytesPerSample: 1, channels: 1 }));
  header.writeUInt16LE(MULAW, 20);
  return Buffer.concat([header, Uint8Array.from(pcm, mulaw)]);
}

async function oggOf(samples: Float32Array): Promise<Uint8Array> {
  const encoder = await openEncoder("opus");
  const file = Buffer.concat([encoder.head(), encoder.push(toPcm16(samples)), encoder.end()]);
  encoder.free();
  return file;
}

/** A block a packet and a cluster a second, as browsers have it. */
function webmOf(packets: readonly Uint8Array[]): Uint8Array {
  const blocks = packets.map((packet) => element([0xa3], block([packet], 0)));
  const clusters: Buffer[] = [];
  for (let at = 0; at < blocks.length; at += 50) clusters.push(Buffer.concat(blocks.slice(at, at + 50)));
  return webm([track(2, 2, "A_OPUS")], clusters, false);
}

import { OpusDecoder } from "opus-decoder";
import { AudioFormatError } from "../audio-format-error.ts";
import { type DecodingBudget, MAX_CHANNELS } from "./decoding-budget.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** The head of an Opus stream (RFC 7845, 5.1), which Ogg and WebM both carry. */
export interface OpusHead {
  readonly channels: number;
  /** What all samples are multiplied by. */
  readonly gain: number;
  /** Samples at 48 kHz that come before the beginning. */
  readonly preSkip: number;
  readonly streams: number;
  readonly coupledStreams: number;
  readonly mapping: readonly number[];
}

/** Reads an `OpusHead` packet. Throws {@link AudioFormatError} for what is none, or has channels in another order. */
export function readOpusHead(packet: Uint8Array): OpusHead {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (packet.length < 19 || Buffer.from(packet.subarray(0, 8)).toString("latin1") !== "OpusHead") {
    throw new AudioFormatError("its Opus stream has no head");
  }
  const channels = packet[9]!;
  const preSkip = view.getUint16(10, true);
  // In 256ths of a decibel.
  const gain = 10 ** (view.getInt16(16, true) / (20 * 256));
  const family = packet[18]!;
  if (family === 0 && (channels === 1 || channels === 2)) {
    return {
      channels,
      gain,
      preSkip,
      streams: 1,
      coupledStreams: channels - 1,
      mapping: channels === 1 ? [0] : [0, 1],
    };
  }
  const mapping = [...packet.subarray(21, 21 + channels)];
  const [streams = 0, coupledStreams = 0] = packet.subarray(19, 21);
  const isWhole = family === 1 && channels >= 1 && channels <= 8 && mapping.length === channels;
  const isSound = coupledStreams <= streams && streams >= 1 && streams + coupledStreams <= MAX_CHANNELS;
  if (!isWhole || !isSound || mapping.some((index) => index !== 255 && index >= streams + coupledStreams)) {
    throw new AudioFormatError("its Opus stream has channels that cannot be told apart");
  }
  return { channels, gain, preSkip, streams, coupledStreams, mapping };
}

/** The rate that lengths of Opus are counted at. */
const COUNTED_HZ = 48_000;
/** Opus at this rate is decoded without a detour through 48 kHz. */
const RATE_HZ = 16_000;
const PER_SAMPLE = COUNTED_HZ / RATE_HZ;
/** No packet lasts longer, nor has more bytes in each of its streams (RFC 6716, 3.2). */
const MAX_PACKET_SAMPLES = 5_760;
const MAX_STREAM_BYTES = 61_298;

/** Bytes that a packet may have: those of eight streams, more than any layout of up to eight channels needs. */
export const MAX_PACKET_BYTES = 8 * MAX_STREAM_BYTES;

/** The packets of one stream of Opus, to be gone through more than once. */
interface OpusStream {
  readonly head: OpusHead;
  readonly packets: () => Iterable<Uint8Array>;
  /** Where it ends, in samples at 48 kHz with those that come before the beginning; `null`: after the last packet. */
  readonly endSamples48: number | null;
}

/** Looks over a stream whose container is whole. Throws as `openRecording` does. */
export function openOpus(
  { head, packets, endSamples48 }: OpusStream,
  budget: DecodingBudget,
): RecordingDecoder {
  let counted48 = 0;
  let index = 0;
  for (const packet of packets()) {
    counted48 += lengthOf(packet, index).samples48;
    index += 1;
    // What a mark of the end cuts off would have to be decoded all the same.
    budget.checkLength((counted48 - head.preSkip) / COUNTED_HZ - MAX_PACKET_SAMPLES / COUNTED_HZ);
  }
  const end48 = Math.min(counted48, endSamples48 ?? counted48);
  const boundS = Math.max(0, end48 - head.preSkip) / COUNTED_HZ;
  budget.checkLength(boundS);
  const blocks = () => decoded(head, packets(), end48, budget);
  return { sampleRateHz: RATE_HZ, boundS, blocks };
}

async function* decoded(
  head: OpusHead,
  packets: Iterable<Uint8Array>,
  end48: number,
  budget: DecodingBudget,
): AsyncGenerator<DecodedBlock, void, void> {
  const { channels, streams, coupledStreams, mapping } = head;
  const decoder = new OpusDecoder({
    sampleRate: RATE_HZ,
    channels,
    streamCount: streams,
    coupledStreamCount: coupledStreams,
    channelMappingTable: [...mapping],
    preSkip: 0,
  });
  await decoder.ready;
  try {
    let toSkip = Math.round(head.preSkip / PER_SAMPLE);
    let left = Math.round(end48 / PER_SAMPLE);
    let index = 0;
    for (const packet of packets) {
      if (left === 0) break;
      const { samples48, frames } = lengthOf(packet, index);
      budget.chargeSound(samples48 / PER_SAMPLE, streams + coupledStreams, RATE_HZ);
      budget.chargeWork(UNITS_PER_FRAME * frames * streams);
      const { channelData, samplesDecoded } = decodedPacket(decoder, packet, index);
      index += 1;
      const to = Math.min(samplesDecoded, left);
      const from = Math.min(toSkip, to);
      toSkip -= from;
      left -= to;
      yield { channels: channelData, from, to, scale: head.gain };
    }
  } finally {
    decoder.free();
  }
}

/** Samples of a frame at 48 kHz by the upper five bits of a packet's first byte (RFC 6716, 3.1): SILK, both, CELT. */
const FRAME_SAMPLES: readonly number[] = [
  ...[480, 960, 1_920, 2_880, 480, 960, 1_920, 2_880, 480, 960, 1_920, 2_880],
  ...[480, 960, 480, 960],
  ...[120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960],
];

/** What a frame of a stream costs beside its samples. */
const UNITS_PER_FRAME = 250;

/** How long a packet is. Throws {@link AudioFormatError} for one that no encoder makes. */
function lengthOf(packet: Uint8Array, index: number): { samples48: number; frames: number } {
  const [first = 0, second = 0] = packet;
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2;
  const samples48 = frames * FRAME_SAMPLES[first >> 3]!;
  if (packet.length === 0 || samples48 === 0 || samples48 > MAX_PACKET_SAMPLES) throw damaged(index);
  return { samples48, frames };
}

function decodedPacket(decoder: OpusDecoder<typeof RATE_HZ>, packet: Uint8Array, index: number) {
  try {
    const frame = decoder.decodeFrame(packet);
    if (frame.errors.length === 0) return frame;
  } catch (error) {
    // What is larger than any packet of Opus does not fit into the decoder's memory.
    if (!(error instanceof RangeError)) throw error;
  }
  throw damaged(index);
}

function damaged(index: number): AudioFormatError {
  return new AudioFormatError(`packet ${index} of its Opus stream is damaged`);
}

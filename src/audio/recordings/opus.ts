import { OpusDecoder } from "opus-decoder";
import { AudioFormatError } from "../audio-format-error.ts";
import { type DecodingBudget, MAX_CHANNELS } from "./decoding-budget.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** Head of an Opus stream in Ogg or WebM (RFC 7845, 5.1). */
export interface OpusHead {
  readonly channels: number;
  /** Factor for all samples. */
  readonly gain: number;
  /** Samples at 48 kHz to drop at the beginning. */
  readonly preSkip: number;
  readonly streams: number;
  readonly coupledStreams: number;
  readonly mapping: readonly number[];
}

/** Reads an `OpusHead` packet. Throws {@link AudioFormatError} for anything else and for unknown channel orders. */
export function readOpusHead(packet: Uint8Array): OpusHead {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (packet.length < 19 || Buffer.from(packet.subarray(0, 8)).toString("latin1") !== "OpusHead") {
    throw new AudioFormatError("its Opus stream has no head");
  }
  const channels = packet[9]!;
  const preSkip = view.getUint16(10, true);
  // The header's unit is 1/256 dB.
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
    throw new AudioFormatError("its Opus stream has a channel mapping that is not supported");
  }
  return { channels, gain, preSkip, streams, coupledStreams, mapping };
}

/** Rate in which Opus counts lengths. */
const COUNTED_HZ = 48_000;
/** Opus decodes to this rate directly. */
const RATE_HZ = 16_000;
const PER_SAMPLE = COUNTED_HZ / RATE_HZ;
/** Longest packet, and most bytes in each of its streams (RFC 6716, 3.2). */
const MAX_PACKET_SAMPLES = 5_760;
const MAX_STREAM_BYTES = 61_298;

/** Largest packet: eight streams, more than any layout of up to eight channels needs. */
export const MAX_PACKET_BYTES = 8 * MAX_STREAM_BYTES;

/** Packets of one Opus stream. They are iterated more than once. */
interface OpusStream {
  readonly head: OpusHead;
  readonly packets: () => Iterable<Uint8Array>;
  /** End in samples at 48 kHz, pre-skip included; `null` if it is after the last packet. */
  readonly endSamples48: number | null;
}

/** Checks the length of a stream whose container is whole. Throws as `openRecording` does. */
export function openOpus(
  { head, packets, endSamples48 }: OpusStream,
  budget: DecodingBudget,
): RecordingDecoder {
  let counted48 = 0;
  let index = 0;
  for (const packet of packets()) {
    counted48 += lengthOf(packet, index).samples48;
    index += 1;
    // Samples after the end mark have to be decoded as well.
    budget.checkLength((counted48 - head.preSkip) / COUNTED_HZ - MAX_PACKET_SAMPLES / COUNTED_HZ);
  }
  const end48 = Math.min(counted48, endSamples48 ?? counted48);
  const boundS = Math.max(0, end48 - head.preSkip) / COUNTED_HZ;
  budget.checkLength(boundS);
  const blocks = () => decodePackets(head, packets(), end48, budget);
  return { sampleRateHz: RATE_HZ, boundS, blocks };
}

async function* decodePackets(
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
      const { channelData, samplesDecoded } = decodePacket(decoder, packet, index);
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

/**
 * Samples per frame at 48 kHz by the upper five bits of a packet's first byte (RFC 6716, 3.1): SILK, hybrid, CELT.
 */
const FRAME_SAMPLES: readonly number[] = [
  ...[480, 960, 1_920, 2_880, 480, 960, 1_920, 2_880, 480, 960, 1_920, 2_880],
  ...[480, 960, 480, 960],
  ...[120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960],
];

/** Cost of a frame of a stream in addition to its samples. */
const UNITS_PER_FRAME = 250;

/** Returns a packet's length. Throws {@link AudioFormatError} for an invalid one. */
function lengthOf(packet: Uint8Array, index: number): { samples48: number; frames: number } {
  const [first = 0, second = 0] = packet;
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2;
  const samples48 = frames * FRAME_SAMPLES[first >> 3]!;
  if (packet.length === 0 || samples48 === 0 || samples48 > MAX_PACKET_SAMPLES) throw damaged(index);
  return { samples48, frames };
}

function decodePacket(decoder: OpusDecoder<typeof RATE_HZ>, packet: Uint8Array, index: number) {
  try {
    const frame = decoder.decodeFrame(packet);
    if (frame.errors.length === 0) return frame;
  } catch (error) {
    // A packet larger than Opus allows does not fit into the decoder's memory.
    if (!(error instanceof RangeError)) throw error;
  }
  throw damaged(index);
}

function damaged(index: number): AudioFormatError {
  return new AudioFormatError(`packet ${index} of its Opus stream is damaged`);
}

import { join } from "node:path";
import type { PlanningNetwork } from "../../planning/plan.ts";
import { readChecked } from "../../tensors/checked-file.ts";
import { type NativeGuard, openSession } from "../../tensors/session.ts";
import { float32, floatsOf, idRow, int64, type Tensor } from "../../tensors/tensor.ts";
import { BLOCKS, CHANNELS, EDGE_COLUMNS, streamingDecoder } from "./streaming-decoder.ts";

/** What the decoder keeps between the pieces of one sentence. */
export type DecoderMemory = readonly Tensor[];

/** Consecutive spectral frames as the decoder takes them: one column a frame. */
export interface DecoderPiece {
  /** [128, columns], six of which overlap the piece before. */
  readonly encoding: Float32Array;
  readonly pitchHz: Float32Array;
  readonly energy: Float32Array;
  /** Whether the sentence ends with this piece. */
  readonly isLast: boolean;
  /** Of the frames that come out: how many to leave undescribed, because they were only context. */
  readonly skip: number;
  /** How many come out, skipped ones included. */
  readonly frames: number;
}

/** The voice's three graphs (voices/heart/split/README.md), in the order in which a sentence passes them. */
export interface Network extends PlanningNetwork {
  /** @returns values [frames − skip, 3005] in the order of `PART`. @param memory null at a sentence's start. */
  decode(
    piece: DecoderPiece,
    memory: DecoderMemory | null,
  ): Promise<{ spectra: Float32Array; memory: DecoderMemory }>;
}

/** A network whose owner frees it. */
export interface OwnedNetwork extends Network {
  close(): Promise<void>;
}

/** Channels of the encodings: those that the pitch is planned from, and those that are decoded. */
const PROSODY_CHANNELS = 192;
export const DECODER_CHANNELS = 128;

/** Opens the graphs in `voiceDir/split`. @throws Error naming the file that is missing, damaged or not a graph. */
export async function openNetwork(voiceDir: string, guard?: NativeGuard): Promise<OwnedNetwork> {
  const open = async (name: string, rewrite = (model: Uint8Array) => model) => {
    const path = join(voiceDir, "split", name);
    return openSession(rewrite(await readChecked(path)), path, { guard });
  };
  // The biggest first: what loading it leaves behind is used again by the others.
  const decoder = await open("decoder.onnx", streamingDecoder);
  const text = await open("text.onnx");
  const prosody = await open("prosody.onnx");

  return {
    async read(ids) {
      const outputs = await text.run({ ids: idRow(ids) });
      return {
        steps: floatsOf(outputs, "dur"),
        prosodyEncoding: floatsOf(outputs, "enc_p"),
        decoderEncoding: floatsOf(outputs, "enc_d"),
      };
    },
    async intone(columns) {
      const xp = float32(columns, [1, PROSODY_CHANNELS, columns.length / PROSODY_CHANNELS]);
      const outputs = await prosody.run({ xp });
      return { pitchHz: floatsOf(outputs, "f0"), energy: floatsOf(outputs, "energy") };
    },
    async decode(piece, memory) {
      const columns = piece.pitchHz.length;
      const inputs: Record<string, Tensor> = {
        xd: float32(piece.encoding, [1, DECODER_CHANNELS, columns]),
        f0: float32(piece.pitchHz, [1, columns]),
        energy: float32(piece.energy, [1, columns]),
        after: piece.isLast ? ZEROS : NONE,
        from: int64(BigInt64Array.of(BigInt(piece.skip)), [1]),
        to: int64(BigInt64Array.of(BigInt(piece.frames)), [1]),
      };
      for (let k = 0; k < BLOCKS; k++) inputs[`past${k}`] = memory?.[k] ?? ZEROS;
      const outputs = await decoder.run(inputs);
      const next = Array.from({ length: BLOCKS }, (_, k) => outputs[`next${k}`] ?? ZEROS);
      return { spectra: floatsOf(outputs, "spec"), memory: next };
    },
    async close() {
      await Promise.all([text, prosody, decoder].map((session) => session.release()));
    },
  };
}

const ZEROS = float32(new Float32Array(CHANNELS * EDGE_COLUMNS), [1, CHANNELS, EDGE_COLUMNS]);
const NONE = float32(new Float32Array(0), [1, CHANNELS, 0]);

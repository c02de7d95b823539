import { type GraphEdit, type Node, node, rewriteGraph, withoutAttribute } from "../../tensors/onnx-model.ts";

/** Columns that a convolution of width 7 keeps from the chunk before. */
const PAST_COLUMNS = 6;

/** Zero columns that stand for what lies beyond either end of a sentence: half a convolution's width. */
export const EDGE_COLUMNS = 3;

/** Residual blocks in the decoder, each with one depthwise convolution. */
export const BLOCKS = 8;

/** Channels between the blocks. */
export const CHANNELS = 256;

/**
 * Turns the decoder of a whole sentence into one that takes the sentence in pieces. Instead of padding with zeros each
 * convolution joins its piece to the last six columns of the piece before, which go out with the result and come back
 * with the next run; so every column is computed once, whatever the chunks, and each of the nine convolutions delays
 * the result by three columns. (The usual ring-buffer form of a streaming convolution; for residual blocks the
 * bypass is delayed too: Rybakov et al., "Streaming keyword spotting on mobile devices", 2020.)
 *
 * New inputs: `past0`…`past7` [1, 256, 6], or 3 zero columns at the start of a sentence; `after` [1, 256, n], with
 * n = 3 zero columns in a sentence's last piece and none before. New outputs: `next0`…`next7`. The first convolution
 * is not padded any more: the caller overlaps its pieces by six columns.
 *
 * @throws Error when the file is not the decoder that this was written for.
 */
export function streamingDecoder(decoder: Uint8Array): Uint8Array {
  return rewriteGraph(decoder, stream);
}

function stream(nodes: readonly Node[]): GraphEdit {
  const inputs: Record<string, (number | string)[]> = { after: [1, CHANNELS, "after"] };
  const outputs: Record<string, (number | string)[]> = {};
  const delayed = new Map<string, string>();
  let block = 0;

  const changed = nodes.flatMap((each): Node[] => {
    if (each.operation === "Conv") {
      const [source, ...weights] = each.inputs;
      if (source === undefined) throw unexpected();
      if (each.integers.get("group")?.[0] === 1) return [withoutAttribute(each, "pads")];
      const k = block++;
      const joined = `joined${k}`;
      inputs[`past${k}`] = [1, CHANNELS, `past${k}`];
      outputs[`next${k}`] = [1, CHANNELS, PAST_COLUMNS];
      delayed.set(source, `bypass${k}`);
      return [
        node("Concat", [`past${k}`, source, "after"], [joined], { axis: 2 }),
        node("Slice", [joined, "last six", "end", "time axis"], [`next${k}`]),
        node("Slice", [joined, "first three", "last three", "time axis"], [`bypass${k}`]),
        withoutAttribute({ ...each, inputs: [joined, ...weights] }, "pads"),
      ];
    }
    const bypass = each.operation === "Add" ? delayed.get(each.inputs[0] ?? "") : undefined;
    return bypass === undefined ? [each] : [{ ...each, inputs: [bypass, ...each.inputs.slice(1)] }];
  });

  if (block !== BLOCKS) throw unexpected();
  const constants = {
    "last six": [-PAST_COLUMNS],
    "first three": [EDGE_COLUMNS],
    "last three": [-EDGE_COLUMNS],
    end: [2 ** 31 - 1],
    "time axis": [2],
  };
  return { nodes: changed, inputs, outputs, constants };
}

function unexpected(): Error {
  return new Error("The voice's decoder has another form than this version of Antiphon knows.");
}

import type { CodeFrame, FrameDecoder } from "./mimi/frame-decoder.ts";
import type { Backbone } from "./networks/backbone.ts";
import type { DepthDecoder } from "./networks/depth-decoder.ts";
import { BLOCK_POSITIONS, PrefixCache } from "./networks/kv-cache.ts";
import { sampleCode } from "./sampler.ts";
import type { Sequence } from "./sequence.ts";

/** Embeddings at the inputs of the backbone and the depth decoder. */
export interface FrameEmbeddings {
  /** Returns a code's row at the depth decoder's input: [width]. */
  ofCode(codebook: number, code: number): Float32Array;
  /** Returns a frame's row at the backbone's input: [width], a copy. */
  ofFrame(frame: CodeFrame): Float32Array;
  /** Reads into memory what every frame needs. */
  preload(): Promise<void>;
}

export interface FrameModel {
  readonly width: number;
  readonly maxPositions: number;
  readonly codebooks: number;
  /** Codes that may be sampled in each codebook after the first. */
  readonly codes: number;
  readonly backbone: Backbone;
  readonly depthDecoder: DepthDecoder;
  readonly decoder: FrameDecoder;
  readonly embeddings: FrameEmbeddings;
}

/** Runs a model's networks for several sequences together. An error in one does not affect the others. */
export class ModelRunner {
  readonly #model: FrameModel;
  readonly #prefixCache: PrefixCache;
  readonly #prefillBlocksPerTick: number;

  /** @param prefillBlocksPerTick blocks of prompts read between two frames of other sequences */
  constructor(model: FrameModel, prefixCache: PrefixCache, prefillBlocksPerTick: number) {
    this.#model = model;
    this.#prefixCache = prefixCache;
    this.#prefillBlocksPerTick = prefillBlocksPerTick;
  }

  /** Reads prompts block by block, only a few blocks while other sequences speak. */
  async prefill(sequences: readonly Sequence[], areOthersSpeaking: boolean): Promise<void> {
    let left = areOthersSpeaking ? this.#prefillBlocksPerTick : Number.POSITIVE_INFINITY;
    for (const sequence of sequences) {
      while (left > 0 && !sequence.isPrefilled && !sequence.isOver) {
        await this.#failOnError([sequence], () => this.#prefillBlock(sequence));
        left--;
        // Other events are handled between two blocks.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Reads one block of a prompt, after copying the blocks at its start from the prefix cache. */
  async #prefillBlock(sequence: Sequence): Promise<void> {
    const { backbone, width } = this.#model;
    const { cache } = backbone;
    const { prompt } = sequence.state;
    const slot = sequence.slot!;
    sequence.blockKeys ??= PrefixCache.keysOf(prompt, width);
    if (cache.lengthOf(slot) === 0) {
      cache.ensureCapacity(Math.min(prompt.length / width, this.#model.maxPositions));
      // The last row must be read, not copied, since its output is needed.
      const whole = Math.ceil(prompt.length / width / BLOCK_POSITIONS) - 1;
      for (const key of sequence.blockKeys.slice(0, whole)) {
        const block = this.#prefixCache.get(key);
        if (block === undefined) break;
        cache.copyIn(slot, cache.lengthOf(slot), block);
        cache.setLength(slot, cache.lengthOf(slot) + BLOCK_POSITIONS);
      }
    }
    const from = cache.lengthOf(slot);
    const rows = prompt.slice(from * width, (from + BLOCK_POSITIONS) * width);
    const { hidden, logits } = await backbone.read(slot, rows);
    const key = sequence.blockKeys[from / BLOCK_POSITIONS];
    if (key !== undefined) this.#prefixCache.set(key, cache.copyOut(slot, from, BLOCK_POSITIONS));
    if ((from + BLOCK_POSITIONS) * width >= prompt.length) {
      sequence.output = { hidden: hidden.slice(-width), logits };
      sequence.isPrefilled = true;
    }
  }

  /** Runs the backbone on the newest frame of each sequence. @returns the sequences still active */
  async stepBackbone(sequences: readonly Sequence[]): Promise<readonly Sequence[]> {
    const { backbone } = this.#model;
    const pending = sequences.filter((sequence) => sequence.output === null && !sequence.isOver);
    if (pending.length > 0) {
      await this.#failOnError(pending, async () => {
        for (const sequence of pending) backbone.rowOf(sequence.slot!).set(sequence.row!);
        const all = await backbone.step(pending.map((sequence) => sequence.slot!));
        for (const [at, sequence] of pending.entries()) sequence.output = all[at]!;
      });
    }
    return sequences.filter((sequence) => !sequence.isOver);
  }

  async sampleFrames(sequences: readonly Sequence[]): Promise<void> {
    const active: { readonly sequence: Sequence; readonly codes: number[] }[] = [];
    for (const sequence of sequences) {
      await this.#failOnError([sequence], async () => {
        const { logits } = sequence.output!;
        if (Number.isNaN(logits[0]!)) throw new Error(NAN_SCORES);
        const code = sequence.state.sampleFirst(logits);
        if (typeof code === "number") active.push({ sequence, codes: [code] });
        else sequence.end(code);
      });
    }
    if (active.length === 0) return;
    const all = active.map(({ sequence }) => sequence);
    await this.#failOnError(all, async () => {
      await this.#sampleOthers(active);
      await this.#deliver(active.filter(({ sequence }) => !sequence.isOver));
    });
  }

  /** Samples the remaining codebooks in order, for all frames together. */
  async #sampleOthers(
    active: readonly { readonly sequence: Sequence; readonly codes: number[] }[],
  ): Promise<void> {
    const { depthDecoder, embeddings, codebooks, codes: known, width } = this.#model;
    for (const [place, { sequence, codes }] of active.entries()) {
      const pair = depthDecoder.pairOf(place);
      pair.set(sequence.output!.hidden);
      pair.set(embeddings.ofCode(0, codes[0]!), width);
    }
    for (let codebook = 1; codebook < codebooks; codebook++) {
      await depthDecoder.step(codebook - 1, active.length);
      for (const [place, { sequence, codes }] of active.entries()) {
        if (sequence.isOver) continue;
        // An error here fails one sequence; the others' rows are untouched.
        await this.#failOnError([sequence], async () => {
          const { depthSampler, rng } = sequence.state;
          const logits = depthDecoder.logitsOf(place).subarray(0, known);
          if (Number.isNaN(logits[0]!)) throw new Error(NAN_SCORES);
          const code = sampleCode(logits, depthSampler, rng);
          codes.push(code);
          if (codebook + 1 < codebooks) depthDecoder.rowOf(place).set(embeddings.ofCode(codebook, code));
        });
      }
    }
  }

  async #deliver(
    active: readonly { readonly sequence: Sequence; readonly codes: CodeFrame }[],
  ): Promise<void> {
    const { decoder, backbone, maxPositions } = this.#model;
    const accepted = active.map(({ sequence, codes }) => ({
      sequence,
      codes,
      ...sequence.state.acceptFrame(codes),
    }));
    const audible = accepted.filter(({ isAudible }) => isAudible);
    const sounds = await decoder.decodeTogether(
      audible.map(({ sequence, codes }) => ({ stream: sequence.state.decoderStream, codes })),
    );
    for (const each of accepted) {
      const { sequence, codes, stop } = each;
      if (sequence.isOver) continue;
      const isFull = backbone.cache.lengthOf(sequence.slot!) >= maxPositions;
      const ending = stop ?? (isFull ? "length" : null);
      if (ending === null) {
        sequence.row = this.#model.embeddings.ofFrame(codes);
        sequence.state.addText?.(sequence.row);
        sequence.output = null;
      }
      const samples = each.isAudible ? sounds[audible.indexOf(each)]! : new Float32Array(0);
      sequence.deliver({ codes, samples }, ending);
    }
  }

  async #failOnError(sequences: readonly Sequence[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      for (const sequence of sequences) sequence.fail(error);
    }
  }
}

const NAN_SCORES = "The scores that the model computes are NaN: its weights are damaged.";

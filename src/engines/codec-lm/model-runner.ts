import type { CodeFrame, FrameDecoder } from "./mimi/frame-decoder.ts";
import type { Backbone } from "./networks/backbone.ts";
import type { DepthDecoder } from "./networks/depth-decoder.ts";
import { BLOCK_POSITIONS, PrefixCache } from "./networks/kv-cache.ts";
import { sampleCode } from "./sampler.ts";
import type { Sequence } from "./sequence.ts";

/** The rows that stand for codes at the inputs of the backbone and the depth decoder. */
export interface FrameEmbeddings {
  /** A code at the depth decoder's input: [width]. */
  ofCode(codebook: number, code: number): Float32Array;
  /** A frame at the backbone's input: [width], the caller's own. */
  ofFrame(frame: CodeFrame): Float32Array;
  /** Has what is read for each frame at hand. */
  preload(): Promise<void>;
}

/** A model as far as all kinds of them are alike. */
export interface FrameModel {
  readonly width: number;
  /** Of a sequence at most. */
  readonly maxPositions: number;
  readonly codebooks: number;
  /** Codes of a codebook after the first that may be sampled. */
  readonly codes: number;
  readonly backbone: Backbone;
  readonly depthDecoder: DepthDecoder;
  readonly decoder: FrameDecoder;
  readonly embeddings: FrameEmbeddings;
}

/** Runs a model's parts for several sequences together. What goes wrong for one is that one's own. */
export class ModelRunner {
  readonly #model: FrameModel;
  readonly #prefixCache: PrefixCache;
  readonly #prefillBlocksPerTick: number;

  /** @param prefillBlocksPerTick of prompts that are read between two frames of others */
  constructor(model: FrameModel, prefixCache: PrefixCache, prefillBlocksPerTick: number) {
    this.#model = model;
    this.#prefixCache = prefixCache;
    this.#prefillBlocksPerTick = prefillBlocksPerTick;
  }

  /** Reads prompts on, block by block; only a little where others speak meanwhile. */
  async prefill(sequences: readonly Sequence[], areOthersSpeaking: boolean): Promise<void> {
    let left = areOthersSpeaking ? this.#prefillBlocksPerTick : Number.POSITIVE_INFINITY;
    for (const sequence of sequences) {
      while (left > 0 && !sequence.isPrefilled && !sequence.isOver) {
        await this.#failOnError([sequence], () => this.#prefillBlock(sequence));
        left--;
        // Who came meanwhile, and who leaves, is heard of between two blocks.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Reads one block of a prompt; those of its beginning that the prefix cache has are copied. */
  async #prefillBlock(sequence: Sequence): Promise<void> {
    const { backbone, width } = this.#model;
    const { cache } = backbone;
    const { prompt } = sequence.state;
    const slot = sequence.slot!;
    sequence.blockKeys ??= PrefixCache.keysOf(prompt, width);
    if (cache.lengthOf(slot) === 0) {
      cache.ensureCapacity(Math.min(prompt.length / width, this.#model.maxPositions));
      // The newest row has to be read for what it gives.
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

  /** Has the backbone read the rows of those whose last frame is not read yet. @returns who can go on */
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

  /** Samples the next frame of each, and hands it over with its sound. */
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

  /** The codes of the other codebooks, one after the other, of all frames together. */
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
        // What goes wrong here is one's own: the others' places are not touched.
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

  /** Decodes these frames, and gives them to those who wait. */
  async #deliver(
    active: readonly { readonly sequence: Sequence; readonly codes: CodeFrame }[],
  ): Promise<void> {
    const { decoder, backbone, maxPositions } = this.#model;
    const accepted = active.map(({ sequence, codes }) => ({
      sequence,
      codes,
      ...sequence.state.acceptFrame(codes),
    }));
    const audible = accepted.filter(({ isHeard }) => isHeard);
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
      const samples = each.isHeard ? sounds[audible.indexOf(each)]! : new Float32Array(0);
      sequence.deliver({ codes, samples }, ending);
    }
  }

  /** Does some work for these; what it throws is theirs. */
  async #failOnError(sequences: readonly Sequence[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      for (const sequence of sequences) sequence.fail(error);
    }
  }
}

const NAN_SCORES = "The scores that the model computes are NaN: its weights are damaged.";

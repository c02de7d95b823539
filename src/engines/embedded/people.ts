import type { RunQueued } from "../../core/run-queued.ts";
import { SpeechFailedError } from "../../core/speech-model.ts";
import type { BoundSession, NativeGuard } from "../../onnx/session.ts";
import type { StoredGraph } from "../../onnx/stored-graph.ts";
import { adapted, type Multiply, openProduct, readAdapter, requireFits } from "./adapter.ts";
import { type Network, type OwnedNetwork, openNetwork, type Precision } from "./network.ts";

export interface PeopleParts {
  readonly voiceDir: string;
  readonly precision: Precision | undefined;
  readonly guard: NativeGuard | undefined;
  /** Lets those who speak go first. */
  readonly inTurn: RunQueued;
}

/**
 * The networks of the people who have an adapter, one each, opened when it is first spoken with, and then kept: some
 * 15 MB each. They open one after another, so that utterances take turns with at most one of them.
 */
export class People {
  readonly #parts: PeopleParts;
  readonly #opened = new Map<string, Promise<OwnedNetwork>>();
  #last: Promise<unknown> = Promise.resolve();
  #product: BoundSession | null = null;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
  }

  /** A person's network. @throws SpeechFailedError where it cannot be opened; who asks again then tries again */
  async network(person: string): Promise<Network> {
    const known = this.#opened.get(person);
    if (known !== undefined) return known;
    const opening = this.#last.then(() => this.#open(person));
    this.#last = opening.catch(() => this.#opened.delete(person));
    this.#opened.set(person, opening);
    return opening;
  }

  async close(): Promise<void> {
    // Of what could not be opened nothing is left.
    const opened = await Promise.allSettled(this.#opened.values());
    await Promise.all(opened.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)));
    await this.#product?.release();
  }

  async #open(person: string): Promise<OwnedNetwork> {
    const { voiceDir, precision, guard, inTurn } = this.#parts;
    try {
      const adapter = await readAdapter(voiceDir, person);
      this.#product ??= await openProduct(guard);
      const product = this.#product;
      const multiply: Multiply = (factors, sum) => inTurn(() => product.bind(factors, sum).run());
      const graphs: StoredGraph[] = [];
      const network = await openNetwork(voiceDir, precision, guard, (graph) => {
        graphs.push(graph);
        return adapted(graph, adapter, multiply);
      });
      try {
        requireFits(adapter, graphs);
      } catch (unfit) {
        await network.close();
        throw unfit;
      }
      return network;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new SpeechFailedError(`The voice could not be opened as ${person}. ${reason}`, { cause });
    }
  }
}

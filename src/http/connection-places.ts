import type { Socket } from "node:net";
import type { ServiceError } from "../contract/errors.ts";
import { KeyCounter } from "../limits/key-counter.ts";
import { whenClosed } from "./when-closed.ts";

export interface ConnectionPlacesOptions {
  /** Places in all, and of one holder: a key, say, or an address. */
  readonly inAll: number;
  readonly perHolder: number;
  /** What is thrown where there is none left. */
  readonly full: () => ServiceError;
  readonly holderIsFull: () => ServiceError;
}

/** Places that connections have. One is bound to its connection from the beginning, so that none outlives that. */
export class ConnectionPlaces {
  readonly #options: ConnectionPlacesOptions;
  readonly #taken = new KeyCounter();

  constructor(options: ConnectionPlacesOptions) {
    this.#options = options;
  }

  /**
   * Gives a connection a place until it closes, or gives it up by what is returned. Throws where there is none.
   *
   * @param hold holds what goes with the place; what it returns lets go of that, and is called once
   */
  take(socket: Socket, holder: string, hold: () => () => void): () => void {
    const { inAll, perHolder, full, holderIsFull } = this.#options;
    if (this.#taken.of(holder) >= perHolder) throw holderIsFull();
    if (this.#taken.total >= inAll) throw full();
    this.#taken.add(holder, 1);
    const letGo = hold();
    return whenClosed(socket, () => {
      this.#taken.add(holder, -1);
      letGo();
    });
  }
}

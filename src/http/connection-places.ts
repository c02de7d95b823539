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
  /** Oldest first. */
  readonly #places = new Set<{ readonly holder: string; readonly giveWay: () => void }>();

  constructor(options: ConnectionPlacesOptions) {
    this.#options = options;
  }

  /**
   * Gives a connection a place until it closes, or gives it up by what is returned. Throws where there is none.
   *
   * @param hold holds what goes with the place; what it returns lets go of that, and is called once
   * @param giveWay gives the place up at once, for a newcomer whose holder has fewer; by default, the place is kept
   */
  take(socket: Socket, holder: string, hold: () => () => void, giveWay = () => {}): () => void {
    const { inAll, perHolder, full, holderIsFull } = this.#options;
    if (this.#taken.of(holder) >= perHolder) throw holderIsFull();
    if (this.#taken.total >= inAll) this.#makeRoomFor(holder);
    if (this.#taken.total >= inAll) throw full();
    this.#taken.add(holder, 1);
    const place = { holder, giveWay };
    this.#places.add(place);
    const letGo = hold();
    return whenClosed(socket, () => {
      this.#taken.add(holder, -1);
      this.#places.delete(place);
      letGo();
    });
  }

  /** Has the holder of most places give up its oldest, if it has more than the newcomer. */
  #makeRoomFor(newcomer: string): void {
    let most = { holder: newcomer, giveWay: () => {} };
    for (const place of this.#places)
      if (this.#taken.of(place.holder) > this.#taken.of(most.holder)) most = place;
    most.giveWay();
  }
}

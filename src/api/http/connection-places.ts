import type { Socket } from "node:net";
import type { ServiceError } from "../../contract/errors.ts";
import { KeyCounter } from "../../limits/fair-queue.ts";
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
  readonly #places = new Set<{ readonly holder: string; readonly evict: () => void }>();

  constructor(options: ConnectionPlacesOptions) {
    this.#options = options;
  }

  /**
   * Gives a connection a place until it closes, or gives it up by what is returned. Throws where there is none.
   *
   * @param onTaken runs when the place is taken; the function it returns runs once, when it is freed
   * @param evict frees the place for a holder with fewer; by default, the place cannot be taken away
   */
  take(socket: Socket, holder: string, onTaken: () => () => void, evict = () => {}): () => void {
    const { inAll, perHolder, full, holderIsFull } = this.#options;
    if (this.#taken.of(holder) >= perHolder) throw holderIsFull();
    if (this.#taken.total >= inAll) this.#makeRoomFor(holder);
    if (this.#taken.total >= inAll) throw full();
    this.#taken.add(holder, 1);
    const place = { holder, evict };
    this.#places.add(place);
    const onFreed = onTaken();
    return whenClosed(socket, () => {
      this.#taken.add(holder, -1);
      this.#places.delete(place);
      onFreed();
    });
  }

  /** Evicts the oldest of the holder with most places, if it has more than the newcomer. */
  #makeRoomFor(newcomer: string): void {
    let most = { holder: newcomer, evict: () => {} };
    for (const place of this.#places)
      if (this.#taken.of(place.holder) > this.#taken.of(most.holder)) most = place;
    most.evict();
  }
}

import type { RealtimeTurn } from "../../client/realtime.ts";
import type { Screen } from "./command-io.ts";
import { onOneLine, printLine } from "./safe-screen.ts";

/** Prints a conversation: what the user said once it is known, what is answered as it is heard. */
export class PrintedConversation {
  readonly #out: Screen;
  /** The reply that is being printed, and how many characters of it are. */
  #turn: RealtimeTurn | null = null;
  #printed = 0;
  readonly #ended = new Set<string>();

  constructor(out: Screen) {
    this.#out = out;
  }

  readonly onTurn = (turn: RealtimeTurn | null): void => {
    const isEnded = turn?.state === "done" || turn?.state === "interrupted";
    if (turn === null || !isEnded || this.#ended.has(turn.id)) return;
    this.#ended.add(turn.id);
    if (turn.role === "user") printLine(this.#out, `You: ${turn.text}`);
    else if (turn.state === "done") this.#end(turn, turn.text.length, "");
    else this.#end(turn, this.#printed, " —");
  };

  readonly onPosition = (turn: RealtimeTurn, seconds: number): void => {
    const word = turn.words.findLast(({ start }) => start <= seconds);
    if (word === undefined || this.#ended.has(turn.id)) return;
    const until = Array.from(turn.text)
      .slice(0, word.offset + word.length)
      .join("").length;
    this.#print(turn, until);
  };

  #print(turn: RealtimeTurn, until: number): void {
    if (this.#turn !== turn) {
      this.#turn = turn;
      this.#printed = 0;
      this.#out.write("Antiphon: ");
    }
    if (until <= this.#printed) return;
    this.#out.write(onOneLine(this.#out, turn.text.slice(this.#printed, until)));
    this.#printed = until;
  }

  #end(turn: RealtimeTurn, until: number, mark: string): void {
    // Of a reply that was interrupted before its first word there is nothing to print.
    if (this.#turn !== turn && mark !== "") return;
    this.#print(turn, until);
    this.#out.write(`${mark}\n`);
    this.#turn = null;
    this.#printed = 0;
  }
}

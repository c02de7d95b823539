import {
  cardinal,
  decimalWords,
  digitNames,
  ordinal,
  parseInteger,
  yearWords,
} from "../normalise/number-words.ts";
import type { Endings } from "./accent.ts";
import type { Words } from "./dictionary.ts";

/** Currencies that are read with a number: [whole, hundredth]. */
export const MONEY: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["$", ["dollar", "cent"]],
  ["£", ["pound", "pence"]],
  ["€", ["euro", "cent"]],
]);

const ENDINGS = ["ing", "'d", "ed", "'s", "st", "nd", "rd", "th", "s"];
const ASCII_DIGITS = /^[0-9]+$/;
/** Longer numbers are read digit by digit. */
const MAX_COUNTED_DIGITS = 15;

export class NumberReader {
  readonly #words: Pick<Words, "look">;
  readonly #endings: Endings;

  constructor(words: Pick<Words, "look">, endings: Endings) {
    this.#words = words;
    this.#endings = endings;
  }

  /**
   * Returns whether a word is digits, possibly with an ending ("th", "'s"). Only the head of a group may have a
   * minus.
   */
  isNumber(word: string, head: boolean): boolean {
    if (!/[0-9]/.test(word)) return false;
    const ending = ENDINGS.find((candidate) => word.endsWith(candidate)) ?? "";
    const digits = word.slice(0, word.length - ending.length);
    return (head ? /^-?[0-9,.]*$/ : /^[0-9,.]*$/).test(digits);
  }

  /** Reads a number with its currency; `null` if nothing can be spoken. */
  read(word: string, currency: string | null, head: boolean): string | null {
    const { body, ending } = withoutEnding(word);
    const negative = body.startsWith("-");
    const spoken = negative ? [this.#say("minus")] : [];
    spoken.push(...this.#readBody(negative ? body.slice(1) : body, ending, negative, currency, head));
    const joined = spoken.filter((part) => part !== "").join(" ");
    if (joined === "") return null;
    if (ending === "s" || ending === "'s") return this.#endings.s(joined);
    if (ending === "ed" || ending === "'d") return this.#endings.ed(joined);
    return ending === "ing" ? this.#endings.ing(joined, "") : joined;
  }

  #readBody(
    body: string,
    ending: string,
    negative: boolean,
    currency: string | null,
    head: boolean,
  ): readonly string[] {
    const isOrdinal = ending === "st" || ending === "nd" || ending === "rd" || ending === "th";
    if (ASCII_DIGITS.test(body)) {
      if (isOrdinal) return [this.#say(this.#named(body, ordinal))];
      if (!negative && body.length === 4 && currency === null) return [this.#say(yearWords(Number(body)))];
    }
    const digits = body.replaceAll(",", "");
    const dots = body.split(".").length - 1;
    if (!head && dots === 0) return this.#readCode(digits);
    if (dots > 1 || !head)
      return digits
        .split(".")
        .filter(Boolean)
        .map((part) => this.#readPart(part));
    if (currency !== null && fractionOf(body).length <= 2) return this.#readMoney(digits, currency);
    if (dots === 0) return [this.#say(this.#named(digits, isOrdinal ? ordinal : cardinal))];
    return [
      this.#say(digits.startsWith(".") ? `point ${digitNames(digits.slice(1))}` : this.#decimal(digits)),
    ];
  }

  #readCode(digits: string): readonly string[] {
    if (digits.startsWith("0") || digits.length > 3) return [this.#say(digitNames(digits))];
    if (digits.length !== 3 || digits.endsWith("00")) return [this.#say(this.#named(digits, cardinal))];
    const first = this.#say(digitNames(digits.slice(0, 1)));
    const rest = digits.slice(1);
    if (!rest.startsWith("0")) return [first, this.#say(this.#named(rest, cardinal))];
    return [first, this.#words.look("O", null, -2, null) ?? "", this.#say(digitNames(rest.slice(1)))];
  }

  #readPart(part: string): string {
    const single = part.startsWith("0") || (part.length !== 2 && /[^0]/.test(part.slice(1)));
    return this.#say(single ? digitNames(part) : this.#named(part, cardinal));
  }

  #readMoney(digits: string, currency: string): readonly string[] {
    const [whole = "", fraction = ""] = digits.split(".");
    const decimals = parseInteger(fraction);
    const amount = parseInteger(whole);
    const wholeWords = (): string[] => [
      this.#say(this.#named(whole, cardinal)),
      this.#unitOf(currency, 0, amount),
    ];
    const hundredths = (): string[] => [this.#say(cardinal(decimals)), this.#unitOf(currency, 1, decimals)];
    if (!digits.includes(".") || decimals === 0n) return wholeWords();
    if (amount === 0n) return hundredths();
    return [...wholeWords(), this.#words.look("and", null, null, null) ?? "", ...hundredths()];
  }

  #unitOf(currency: string, part: 0 | 1, amount: bigint): string {
    const unit = MONEY.get(currency)?.[part] ?? "";
    const phonemes = this.#words.look(unit, null, null, null) ?? "";
    return amount === 1n || unit === "pence" ? phonemes : (this.#endings.s(phonemes) ?? "");
  }

  #named(digits: string, write: (value: bigint) => string): string {
    return digits.length > MAX_COUNTED_DIGITS ? digitNames(digits) : write(parseInteger(digits));
  }

  #decimal(digits: string): string {
    if (digits.length <= MAX_COUNTED_DIGITS) return decimalWords(digits);
    const [whole = "", fraction = ""] = digits.split(".");
    return fraction === ""
      ? this.#named(whole, cardinal)
      : `${this.#named(whole, cardinal)} point ${digitNames(fraction)}`;
  }

  #say(text: string): string {
    let spoken = "";
    for (const word of text.split(/[^a-z]+/)) {
      if (word === "" || word === "and") continue;
      const phonemes = this.#words.look(word, null, word === "point" ? -2 : null, null);
      if (phonemes === null || phonemes === "") continue;
      spoken += spoken === "" ? phonemes : ` ${phonemes}`;
    }
    return spoken;
  }
}

function withoutEnding(word: string): { readonly body: string; readonly ending: string } {
  let end = word.length;
  while (end > 0 && /[a-z']/.test(word.charAt(end - 1))) end--;
  return { body: word.slice(0, end), ending: word.slice(end) };
}

function fractionOf(body: string): string {
  const dot = body.indexOf(".");
  return dot < 0 ? "" : body.slice(dot + 1);
}

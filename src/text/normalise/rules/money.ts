import { isAttributive, isNounAfter } from "../number-context.ts";
import { cardinalWords, NUMBER, numberWords } from "../number-words.ts";
import { after, before, matchAt, type TokenRule, withRanges } from "../rule.ts";
import { scaleOf } from "./magnitudes.ts";
import { perUnit } from "./units.ts";

interface Currency {
  readonly one: string;
  readonly many: string;
  readonly cents?: readonly [one: string, many: string];
}

const cents = ["cent", "cents"] as const;
const dollar = (country = ""): Currency => ({ one: `${country}dollar`, many: `${country}dollars`, cents });
const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  (
    [
      ["US$", dollar("U S ")],
      ["A$ AU$ AUD", dollar("Australian ")],
      ["C$ CA$ CAD", dollar("Canadian ")],
      ["NZ$ NZD", dollar("New Zealand ")],
      ["HK$ HKD", dollar("Hong Kong ")],
      ["S$ SGD", dollar("Singapore ")],
      ["R$ BRL", { one: "real", many: "reais" }],
      ["$ USD", dollar()],
      ["£ GBP", { one: "pound", many: "pounds", cents: ["penny", "pence"] }],
      ["€ EUR", { one: "euro", many: "euros", cents }],
      ["¥ JPY", { one: "yen", many: "yen" }],
      ["₹ Rs Rs. INR", { one: "rupee", many: "rupees" }],
      ["₩ KRW", { one: "won", many: "won" }],
      ["₽ RUB", { one: "ruble", many: "rubles" }],
      ["₺", { one: "lira", many: "lira" }],
      ["₿ BTC", { one: "bitcoin", many: "bitcoin" }],
      ["CHF", { one: "Swiss franc", many: "Swiss francs" }],
      ["CNY RMB", { one: "yuan", many: "yuan" }],
      ["MXN", { one: "Mexican peso", many: "Mexican pesos" }],
      ["ZAR", { one: "rand", many: "rand" }],
      ["SEK", { one: "Swedish krona", many: "Swedish kronor" }],
      ["NOK", { one: "Norwegian krone", many: "Norwegian kroner" }],
      ["DKK", { one: "Danish krone", many: "Danish kroner" }],
      ["PLN zł", { one: "zloty", many: "zloty" }],
      ["THB ฿", { one: "baht", many: "baht" }],
      ["ILS ₪", { one: "shekel", many: "shekels" }],
      ["AED", { one: "dirham", many: "dirhams" }],
      ["ETH", { one: "ether", many: "ether" }],
      ["₱", { one: "peso", many: "pesos" }],
      ["₦", { one: "naira", many: "naira" }],
      ["₫", { one: "dong", many: "dong" }],
      ["₴", { one: "hryvnia", many: "hryvnias" }],
    ] satisfies [string, Currency][]
  ).flatMap(([signs, currency]) => signs.split(" ").map((sign): [string, Currency] => [sign, currency])),
);
const SIGN = "US\\$|AU?\\$|CA?\\$|NZ\\$|HK\\$|S\\$|R\\$|[$£€¥₹₩₽₺₿₱฿₦₪₫₴]|zł";
const CODE =
  "USD|AUD|CAD|EUR|GBP|JPY|INR|CHF|CNY|RMB|NZD|HKD|SGD|MXN|BRL|ZAR|SEK|NOK|DKK|PLN|THB|KRW|RUB|ILS|AED|BTC|ETH";
const SCALE =
  "(?:[ -]?([Hh]undred|[Tt]housand|[MmBb]illion|[Tt]rillion)| ?(bn|mn|tn|mm|MM|[kKmMbB]|T))?(?![\\p{L}\\p{N}_]|\\.\\d)";
const DECIMAL_COMMA =
  "\\d{1,3}(?: \\d{3})+(?!\\d)(?!,\\d)|\\d{1,3}(?:[. ]\\d{3})*,\\d{2}(?!\\d)|\\d{1,3}(?:\\.\\d{3})+(?!\\d)";
const AFTER_SIGN = `(?:(\\d{1,15},\\d{2}(?!\\d)|\\d{1,3}(?: \\d{3})+(?![\\d,]))|(${NUMBER}))`;
const BEFORE_NUMBER = withRanges(
  `([-−+]?)(${SIGN}|(?:${CODE}|Rs\\.?)(?= ?\\d)) ?([-−]?)${AFTER_SIGN}${SCALE}(?: (?:[Dd]ollars?|[Pp]ounds?|[Ee]uros?|bucks)(?![\\p{L}]))?`,
  "yu",
);
const TO = withRanges(`( ?[-–—] ?| to )(?:(${SIGN}))?(${NUMBER})${SCALE}`, "yu");
const AFTER_NUMBER = withRanges(
  `(?:(${DECIMAL_COMMA})|(${NUMBER}))(?: ?[-–] ?(\\d{1,9}))?(?: ?(bn|mn|tn|[kKmMbB]|[mb]illion|trillion|thousand)(?= (?:${CODE})(?![\\p{L}])))?(?: ?(${SIGN}|¢)| (${CODE}|Rs)(?![\\p{L}]))`,
  "yu",
);

const ROUND = withRanges(/\$(10{1,2}|10{0,2},?000|1,?000,?000)s(?![\p{L}\p{N}])(?: of (?=dollars))?/uy);
const ROUND_NAMES = [
  "tens",
  "hundreds",
  "thousands",
  "tens of thousands",
  "hundreds of thousands",
  "millions",
];

/** "$10,000s of dollars" → "tens of thousands of dollars". */
export const roundSums: TokenRule = (text, at) => {
  const match = matchAt(ROUND, text, at);
  if (match === null) return null;
  const end = at + match[0].length;
  const name = ROUND_NAMES[(match[1] ?? "").replaceAll(",", "").length - 2] ?? "";
  return { words: `${name} of ${match[0].endsWith(" ") ? "" : "dollars"}`, end };
};

/** "$4.38", "-$8", "$10-$20", "US$30", "£60m", "$4/hr". */
export const moneyBefore: TokenRule = (text, at) => {
  const match = matchAt(BEFORE_NUMBER, text, at);
  if (match === null) return null;
  const [whole, sign = "", name = "", signInside = "", withComma, plain = "", scaleWord, scaleLetter] = match;
  const currency = CURRENCIES.get(name);
  if (currency === undefined) return null;
  const number = withComma === undefined ? plain : withComma.replaceAll(" ", "").replace(",", ".");
  const scale = scaleWord ?? scaleOf(scaleLetter);
  const minus = sign === "+" ? "plus " : sign !== "" || signInside !== "" ? "minus " : "";
  const end = at + whole.length;
  const range = matchAt(TO, text, end);
  if (
    range !== null &&
    (range[1] !== " to " || scale !== "") &&
    (range[2] === undefined || range[2] === name)
  ) {
    const last = range[4] ?? scaleOf(range[5]);
    const first = scale === "" || scale === last ? "" : ` ${scale}`;
    const ended = end + range[0].length;
    const upper =
      last === ""
        ? amount(range[3] ?? "", currency)
        : `${numberWords(range[3] ?? "")} ${last} ${currency.many}`;
    if (!number.includes(".") || last !== "")
      return { words: `${minus}${numberWords(number)}${first} to ${upper}`, end: ended };
    return { words: `${minus}${amount(number, currency)} to ${upper}`, end: ended };
  }
  const per = perUnit(text, end);
  const isWhole = scale !== "" || !number.includes(".");
  const isJoined = /^-\p{L}/u.test(text.slice(end, end + 2)) && !whole.endsWith(" ");
  const isThing = isWhole && isAttributive(before(text, at)) && (isJoined || isNounAfter(text, end));
  if (isThing) return { words: `${counted(number, scale)} ${currency.one}`, end: isJoined ? end + 1 : end };
  const words = scale === "" ? amount(number, currency) : `${counted(number, scale)} ${currency.many}`;
  return { words: `${minus}${words}${per.words}`, end: per.end };
};

/** "20 €", "1.284,50 €", "250 USD", "60¢". */
export const moneyAfter: TokenRule = (text, at) => {
  const match = matchAt(AFTER_NUMBER, text, at);
  if (match === null) return null;
  const [whole, european, plain = "", upper, scale, sign, code] = match;
  const end = at + whole.length;
  if (sign !== undefined && /^\d/u.test(after(text, end))) return null;
  if (sign === "¢") {
    const isOne = plain === "1" || (isAttributive(before(text, at)) && isNounAfter(text, end));
    return { words: `${numberWords(plain)} ${isOne ? "cent" : "cents"}`, end };
  }
  const currency = CURRENCIES.get(sign ?? code ?? "");
  if (currency === undefined) return null;
  const number = european === undefined ? plain : european.replace(/[. ]/gu, "").replace(",", ".");
  if (scale !== undefined) {
    const last = `${upper ?? number}`;
    const from = upper === undefined ? "" : `${numberWords(number)} to `;
    const name = scaleOf(scale) || scale;
    return { words: `${from}${numberWords(last)} ${name} ${currency.many}`, end };
  }
  if (upper !== undefined) return { words: `${numberWords(number)} to ${amount(upper, currency)}`, end };
  const per = perUnit(text, end);
  return { words: `${amount(number, currency)}${per.words}`, end: per.end };
};

function counted(number: string, scale: string): string {
  return scale === "" ? numberWords(number) : `${numberWords(number)} ${scale}`;
}

/** "4.38" → "four dollars and thirty eight cents"; other fractions are read as decimals. */
function amount(number: string, currency: Currency): string {
  const [whole = "", written = ""] = number.replaceAll(",", "").split(".");
  const fraction = written.length === 1 ? `${written}0` : written;
  const hasParts = currency.cents !== undefined && fraction.length === 2;
  if (!hasParts && written !== "") return `${numberWords(number)} ${currency.many}`;
  const isOne = /^0*1$/u.test(whole);
  const main = `${cardinalWords(whole)} ${isOne ? currency.one : currency.many}`;
  if (currency.cents === undefined || fraction === "" || fraction === "00") return main;
  const small = `${cardinalWords(fraction)} ${currency.cents[fraction === "01" ? 0 : 1]}`;
  return /^0*$/u.test(whole) ? small : `${main} and ${small}`;
}

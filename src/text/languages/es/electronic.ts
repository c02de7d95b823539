import { type Rule, rule } from "./rule.ts";

const ENDINGS =
  "com|es|org|net|edu|gob|gov|info|io|mx|ar|cl|co|pe|uy|cat|eu|uk|us|tv|app|dev|ai|pdf|txt|docx?|xlsx?|jpg|png|zip|exe|" +
  "[jt]s|py|html?|xml|csv|mp[34]|php|md|json|ya?ml|sh|java|cpp|css";
const NAMES: ReadonlyMap<string, string> = new Map([
  [".", " punto "],
  ["-", " guion "],
  ["_", " guion bajo "],
  ["/", " barra "],
  ["@", " arroba "],
  [":", " dos puntos "],
  ["+", " más "],
]);

/** Addresses of mail and pages, names of files and users. */
export const ELECTRONIC: readonly Rule[] = [
  rule("(?<![\\w.+-])[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,5}", spokenAddress),
  rule('(?<![\\w])(?:https?:\\/\\/|www\\.)[^\\s<>"«»()]{0,300}[\\w\\/]', spokenAddress),
  rule(
    `(?<![\\w.@-])(?=[\\w.-]{0,80}[A-Za-z_])[\\w-]{1,63}(?:\\.[\\w-]{1,63}){0,4}\\.(?:${ENDINGS})(?:\\/[\\w.\\/-]{0,200})?(?![\\w-]|\\.\\w)`,
    spokenAddress,
  ),
  rule("(?<![\\p{L}\\p{N}])@(?=[\\p{L}\\p{N}_])", "arroba "),
  rule("#(?=\\d)", "número "),
  rule("#(?=\\p{L})", "almohadilla "),
];

function spokenAddress(address: string): string {
  return address
    .replace(/^https?:\/\//, "")
    .replace(/\/$/, "")
    .replace(/\bwww\b/, "triple uve doble")
    .replace(/[^\p{L}\p{N}]/gu, (sign) => NAMES.get(sign) ?? " ")
    .trim();
}

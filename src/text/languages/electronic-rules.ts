import { type Rule, rule } from "./rule.ts";

export interface ElectronicNames {
  /** What the last parts of addresses are, as alternatives of a pattern, in addition to the usual ones. */
  readonly endings: string;
  readonly signs: ReadonlyMap<string, string>;
  readonly www: string;
  readonly at: string;
  readonly number: string;
  readonly hash: string;
}

const ENDINGS =
  "com|org|net|edu|gov|info|io|eu|uk|us|tv|app|dev|ai|pdf|txt|docx?|xlsx?|jpg|png|zip|exe|[jt]s|py|html?|xml|csv|mp[34]|" +
  "php|md|json|ya?ml|sh|java|cpp|css";

/** Makes rules for addresses of mail and pages, names of files and users. */
export function electronicRules({ endings, signs, www, at, number, hash }: ElectronicNames): readonly Rule[] {
  const file = "(?<![\\w.@-])(?=[\\w.-]{0,80}[A-Za-z_])[\\w-]{1,63}(?:\\.[\\w-]{1,63}){0,4}";
  return [
    rule("(?<![\\w.+-])[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,5}", spokenAddress),
    rule('(?<![\\w])(?:https?:\\/\\/|www\\.)[^\\s<>"«»()]{0,300}[\\w\\/]', spokenAddress),
    rule(`${file}\\.(?:${ENDINGS}|${endings})(?:\\/[\\w.\\/-]{0,200})?(?![\\w-]|\\.\\w)`, spokenAddress),
    rule("(?<![\\p{L}\\p{N}])@(?=[\\p{L}\\p{N}_])", `${at} `),
    rule("#(?=\\d)", `${number} `),
    rule("#(?=\\p{L})", `${hash} `),
  ];

  function spokenAddress(address: string): string {
    return address
      .replace(/^https?:\/\//, "")
      .replace(/\/$/, "")
      .replace(/\bwww\b/, www)
      .replace(/[^\p{L}\p{N}]/gu, (sign) => ` ${signs.get(sign) ?? ""} `)
      .replace(/ {2,}/g, " ")
      .trim();
  }
}

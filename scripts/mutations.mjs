// The small faults that can be put into a piece of compiled code.

/** Each: its name, where it applies in code whose texts and comments are blanked, and what the match becomes. */
const KINDS = [
  ["boundary", / (<|>)(=?) /g, ([, sign, equal]) => ` ${sign}${equal === "" ? "=" : ""} `],
  ["comparison", / (<=?|>=?|===|!==) /g, ([, sign]) => ` ${OPPOSITE[sign]} `],
  ["logic", / (&&|\|\||\?\?) /g, ([, sign]) => (sign === "&&" ? " || " : " && ")],
  ["condition", /\b(if|while) \((?=[^\n]*\))/g, ([, word]) => `${word} (!`, "negate"],
  ["arithmetic", / ([-+*/]) /g, ([, sign]) => ` ${{ "+": "-", "-": "+", "*": "/", "/": "*" }[sign]} `],
  ["step", /(?<!\bfor \([^\n]*)(\+\+|--)/g, ([, sign]) => (sign === "++" ? "--" : "++")],
  ["number", /(?<![\w.#$])\d[\d_]*(?:\.\d+)?(?![\w.])/g, ([text], even) => `(${text} ${even ? "+" : "-"} 1)`],
  ["rounding", /\bMath\.(ceil|floor|round)\b/g, ([, name]) => `Math.${name === "floor" ? "ceil" : "floor"}`],
  ["extreme", /\bMath\.(min|max)\b/g, ([, name]) => `Math.${name === "min" ? "max" : "min"}`],
  ["truth", /\b(true|false)\b/g, ([text]) => `${text !== "true"}`],
  ["removed call", /^ +(?:await |void )?(?:this|[a-z]\w*)[\w.#?!]*\([^\n]*\);$/gm, () => ";"],
  [
    "early return",
    /^ {8,}(?=(?:const|let|if|for|while|await|this|void|try)\b)/gm,
    ([text]) => `${text}return; `,
  ],
];
const OPPOSITE = { "<": ">", ">": "<", "<=": ">=", ">=": "<=", "===": "!==", "!==": "===" };

/** All that could be changed in a source: `{ kind, start, end, text }`, where the stretch becomes the text. */
export function mutationsOf(source) {
  const code = blanked(source);
  return KINDS.flatMap(([kind, pattern, mutant, negate]) =>
    [...code.matchAll(pattern)].flatMap((match, index) => {
      const start = match.index;
      const end = start + match[0].length;
      if (/^(?:import|export \*|export \{)/.test(lineAt(code, start))) return [];
      const text = mutant(match, index % 2 === 0);
      if (negate === undefined) return [{ kind, start, end, text }];
      const close = closing(code, end - 1);
      return close < 0 ? [] : [{ kind, start, end: close, text: `${text}(${source.slice(end, close)})` }];
    }),
  );
}

/** The line of a text in which a place is, from its first character to its last. */
export function lineAt(text, place) {
  const end = text.indexOf("\n", place);
  return text.slice(text.lastIndexOf("\n", place - 1) + 1, end < 0 ? undefined : end);
}

/** The same length and lines, with nothing in its comments, strings, templates and regular expressions. */
function blanked(source) {
  const literals =
    /\/\*.*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(=,:&|?!] *)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/gs;
  return source.replace(literals, (text) => text.replaceAll(/[^\n]/g, "_"));
}

/** Where the bracket that opens at a place closes, or -1. */
function closing(code, open) {
  let depth = 0;
  for (let place = open; place < code.length; place++) {
    if (code[place] === "(") depth++;
    if (code[place] === ")" && --depth === 0) return place;
  }
  return -1;
}

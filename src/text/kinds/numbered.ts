/** Abbreviations, less their stop, that are words in full only before a number: "no. 5", "fig. 2". */
export const NUMBERED: readonly string[] =
  "no nos No Nos p c ca Op op art Art fig Fig ch Ch Sec sec Pt Gr Fl Rm eq Eq ext Ext est ex Ex Figs figs chap Chap vols".split(
    " ",
  );

const SAYING =
  /\b(?:said|say|says|saying|answer(?:ed|s)?|repl(?:y|ied)|told|nodded|means?|meant)(?: (?:him|her|them|me|us|you))?[ (“"]*$/iu;

/** Whether "no." behind this is what was said, and no number. */
export function isSaidBehind(earlier: string): boolean {
  return SAYING.test(earlier);
}

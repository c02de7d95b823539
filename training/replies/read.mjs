import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The kinds of `acts.tsv`, each with the exemplars (`> `) and lines (`< `) of `acts/<name>.<author>.txt`, and the lines
 * of `acts/any.asked.txt`, which admit that an answer is not known.
 */
export function readActs(here) {
  const rows = readFileSync(join(here, "acts.tsv"), "utf8").trim().split("\n").slice(1);
  const files = readdirSync(join(here, "acts")).sort();
  const acts = rows.map((row) => {
    const [name, answered, polarity] = row.split("\t");
    const said = files
      .filter((file) => file === `${name}.txt` || file.startsWith(`${name}.`))
      .flatMap((file) => markedLines(join(here, "acts", file)));
    const exemplars = [...new Set(said.filter(([role]) => role === ">").map(([, text]) => text))];
    const lines = [...new Set(said.filter(([role]) => role === "<").map(([, text]) => text))];
    if (exemplars.length === 0) throw new Error(`the kind ${name} has no exemplars`);
    return { name, answered, polarity, exemplars, lines: answered === "none" ? [] : lines };
  });
  const known = new Set(acts.map(({ name }) => name));
  const strays = files.filter((file) => !known.has(file.split(".")[0]) && !file.startsWith("any."));
  if (strays.length > 0) throw new Error(`no kind in acts.tsv for ${strays.join(", ")}`);
  const unknown = markedLines(join(here, "acts/any.asked.txt")).map(([, text]) => text);
  return { acts, unknown };
}

/** The tones of `tones/tones.tsv`, each with its lines of `tones/lines.txt`. */
export function readTones(here) {
  const rows = readFileSync(join(here, "tones/tones.tsv"), "utf8").trim().split("\n").slice(1);
  const lines = new Map();
  let tone = "";
  for (const line of readFileSync(join(here, "tones/lines.txt"), "utf8").split("\n"))
    if (line.startsWith("# ")) tone = line.slice(2).trim();
    else if (line.startsWith("< ")) lines.set(tone, [...(lines.get(tone) ?? []), line.slice(2).trim()]);
  return rows.map((row) => {
    const [name, polarity, fits = ""] = row.split("\t");
    return { name, polarity, fits: fits.split(" ").filter(Boolean), lines: lines.get(name) ?? [] };
  });
}

/** Conversations, a line each: `> ` the other person, `< ` us, a tab between two turns; `# subject` may come first. */
export function readConversations(folders) {
  const found = [];
  for (const folder of folders)
    for (const file of readdirSync(folder)
      .filter((name) => name.endsWith(".txt"))
      .sort()) {
      for (const line of readFileSync(join(folder, file), "utf8").trim().split("\n")) {
        const turns = line
          .split("\t")
          .filter((turn) => !turn.startsWith("# "))
          .map((turn) => [turn[0], turn.slice(2).trim()]);
        if (turns.some(([role, text]) => !/[<>]/.test(role) || text === ""))
          throw new Error(`${file}: neither a subject nor a turn: ${line.slice(0, 60)}`);
        if (turns.length > 1) found.push({ turns, isScene: SCENES.test(file) });
      }
    }
  return found;
}

const SCENES = /role|scene|service/;

function markedLines(path) {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => /^[<>] ./.test(line))
    .map((line) => [line[0], line.slice(2).trim()]);
}

/** What people say in sets by which replies are judged: the files given, and those of `judged/`. */
export function evaluationPrompts(here, files) {
  const judged = readdirSync(join(here, "judged")).filter((name) => name.endsWith(".jsonl"));
  const paths = [...files, ...judged.map((name) => join(here, "judged", name))];
  return paths.flatMap((path) =>
    readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .flatMap((line) =>
        JSON.parse(line).turns.map((turn) => (typeof turn === "string" ? turn : (turn.text ?? ""))),
      ),
  );
}

/** Leaves out what asks an evaluation prompt: three quarters or more of the rarer words shared. */
export function without(conversations, prompts) {
  const bags = prompts.map(rareWords).filter((bag) => bag.size >= 2);
  const asksOne = (text) => {
    const mine = rareWords(text);
    return (
      mine.size > 0 &&
      bags.some((bag) => {
        const shared = [...mine].filter((word) => bag.has(word)).length;
        return shared / (mine.size + bag.size - shared) >= 0.75;
      })
    );
  };
  return conversations.filter(({ turns }) => !turns.some(([role, text]) => role === ">" && asksOne(text)));
}

const COMMON = new Set(
  (
    "a an the i you he she it we they my your his her its our their me him them is are was were be been am do does did " +
    "have has had will would can could should to of in on at for with and or but so not no yes what which who how why " +
    "when where that this these those there here just really very im its ive dont whats"
  ).split(" "),
);

function rareWords(text) {
  const words = text
    .toLowerCase()
    .replace(/[^a-z0-9 ]+/g, "")
    .trim()
    .split(" ");
  return new Set(words.filter((word) => word !== "" && !COMMON.has(word)));
}

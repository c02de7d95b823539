import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { GateClass } from "../src/writers/gate/gate-head.ts";
import { TOP } from "./top.ts";

const GATE = join(TOP, "training", "gate");
const TALK = join(TOP, "training", "replies", "conversations");

/** The lines of one class that the safety gate never learnt from and was never adjusted to. */
export async function heldOutLines(name: GateClass): Promise<string[]> {
  return linesOf(await readFile(join(GATE, "held-out", `${name}.txt`), "utf8"));
}

/**
 * What people say in the third of the conversations that the gate never learnt from, each conversation's lines
 * in their order. The same third as in training/gate/lines.py.
 */
export async function everydayTalk(): Promise<string[][]> {
  const leftOut = new Set(linesOf(await readFile(join(GATE, "left-out.txt"), "utf8")));
  const talks: string[][] = [];
  for (const name of (await readdir(TALK)).filter((file) => file.endsWith(".txt")).sort()) {
    for (const row of (await readFile(join(TALK, name), "utf8")).trim().split("\n")) {
      const conversation = row.replaceAll("\t", "\n");
      const number = createHash("sha256").update(conversation).digest().readUIntBE(0, 6);
      const lines = conversation.split("\n").filter((line) => line.startsWith("> "));
      const said = lines.map((line) => line.slice(2).trim()).filter((line) => line !== "");
      if (number % 3 === 2 && said.length > 0 && !said.some((line) => leftOut.has(line))) talks.push(said);
    }
  }
  return talks;
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readSettingsJson } from "../contract/json/read-json.ts";
import { nearestName, remedyFor } from "../core/nearest-name.ts";
import { LEAVES } from "./leaves.ts";
import { type Fault, faultIn } from "./nested-settings.ts";
import { quotable, SettingsError } from "./settings-error.ts";

/** Settings that are paths. */
const PATHS = [
  "dataDir",
  "lexicon",
  "writer.path",
  "writer.apiKeyFile",
  "recogniser.apiKeyFile",
  "twilio.authTokenFile",
  "wyomingKeyFile",
  "tls.certFile",
  "tls.keyFile",
  "store.urlFile",
  "buckets.urlFile",
];

/**
 * Reads a JSON file of nested settings. Relative paths refer to the file's directory.
 *
 * @throws SettingsError if the file cannot be read, is not a JSON object, or has an unknown or invalid setting
 */
export function readSettingsFile(path: string): Map<string, unknown> {
  return settingsIn(parse(path), dirname(path), `the file ${path}`);
}

/**
 * Returns the settings of a nested value.
 *
 * @param folder base of relative paths
 * @param where name of the source in messages: `the file antiphon.json`
 */
export function settingsIn(value: unknown, folder: string, where: string): Map<string, unknown> {
  const values = new Map<string, unknown>();
  collect(copyOf(value), [], values, where);
  for (const name of PATHS) {
    const given = values.get(name);
    if (typeof given === "string") values.set(name, resolve(folder, given));
  }
  const checkpoints = Object.values((values.get("checkpoints") ?? {}) as CheckpointsAsGiven);
  for (const checkpoint of checkpoints) resolvePaths(checkpoint, folder);
  const voices = (values.get("voices") ?? {}) as Record<string, string | { clip?: string }>;
  for (const [name, voice] of Object.entries(voices)) {
    if (typeof voice === "string") voices[name] = resolve(folder, voice);
    else if (voice.clip !== undefined) voice.clip = resolve(folder, voice.clip);
  }
  return values;
}

/**
 * Copies a tree, so that paths can be resolved in place. Keeps values that JSON does not have, to refuse them by
 * name.
 */
function copyOf(tree: unknown): unknown {
  if (Array.isArray(tree)) return [...tree];
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, copyOf(value)]));
}

/** Only the members that are paths. */
type CheckpointsAsGiven = Record<string, CheckpointAsGiven>;

interface CheckpointAsGiven {
  remote?: { keyFile?: string };
  path?: string;
  voices?: Record<string, { clip?: string }>;
}

function resolvePaths(checkpoint: CheckpointAsGiven, folder: string): void {
  const { remote, path, voices = {} } = checkpoint;
  if (remote?.keyFile !== undefined) remote.keyFile = resolve(folder, remote.keyFile);
  if (path !== undefined) checkpoint.path = resolve(folder, path);
  for (const voice of Object.values(voices)) {
    if (voice.clip !== undefined) voice.clip = resolve(folder, voice.clip);
  }
}

function parse(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new SettingsError(
      "file",
      `The settings file ${path} cannot be read (${code}): name one that can with --config.`,
    );
  }
  try {
    return readSettingsJson(text);
  } catch (error) {
    const reason = (error as Error).message;
    throw new SettingsError("file", `The settings file ${path} is not JSON (${reason}): correct it.`);
  }
}

function collect(value: unknown, path: readonly string[], values: Map<string, unknown>, where: string): void {
  const inside = LEAVES.filter((leaf) => path.every((key, level) => leaf.path[level] === key));
  const [leaf] = inside;
  const name = path.join(".");
  if (leaf === undefined) {
    const known = LEAVES.map((each) => each.name);
    throw unknownKey(where, name, nearestName(name, known));
  }
  if (leaf.path.length === path.length) {
    const fault = faultIn(leaf.schema, value, name);
    if (fault !== null) throw refusedInside(where, fault);
    values.set(leaf.name, value);
    return;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const keys = [...new Set(inside.map((member) => member.path[path.length]))];
    const takes = path.length === 0 ? "an object of settings" : `an object with ${keys.join(", ")}`;
    throw refused(where, name, value, takes);
  }
  for (const [key, part] of Object.entries(value)) {
    // `undefined` means not given.
    if (part !== undefined) collect(part, [...path, key], values, where);
  }
}

function refused(where: string, name: string, value: unknown, takes: string): SettingsError {
  const what =
    name === ""
      ? `${capital(where).replace(/^The file/, "The settings file")} holds`
      : `The setting ${name} in ${where} is`;
  return new SettingsError(
    "file",
    `${what} ${quotable(JSON.stringify(value) ?? `a ${typeof value}`)}, but it takes ${takes}: correct it.`,
    name || null,
  );
}

function refusedInside(where: string, { name, value, kind, takes }: Fault): SettingsError {
  if (kind === "wrong") return refused(where, name, value, takes ?? "");
  if (kind === "unknown") return unknownKey(where, name, takes);
  return new SettingsError("file", `The setting ${name} is missing in ${where}: give it ${takes}.`, name);
}

function unknownKey(where: string, name: string, meant: string | null): SettingsError {
  const remedy = remedyFor(meant, "remove it");
  return new SettingsError(
    "file",
    `${capital(where)} sets ${JSON.stringify(name)}, which is not a setting: ${remedy}`,
    name,
  );
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

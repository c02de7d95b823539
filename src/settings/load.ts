import { resolve } from "node:path";
import envPaths from "env-paths";
import { nearestName, remedyFor } from "../core/nearest-name.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { accepts, expectation, LEAVES, type Leaf, readText } from "./leaves.ts";
import { withDefaults } from "./nested-settings.ts";
import type { Settings } from "./schema.ts";
import { SettingsError, withoutLogins } from "./settings-error.ts";
import { readSettingsFile, settingsIn } from "./settings-file.ts";

export interface SettingSources {
  /** By setting name (`dataDir`, `metrics.port`): text as typed, or a boolean. `undefined` means not given. */
  readonly flags?: Readonly<Record<string, string | boolean | undefined>>;
  readonly env?: Environment;
  /** Path of a JSON file, which must exist. */
  readonly configFile?: string | undefined;
  /** Settings nested as in a file, instead of one. */
  readonly given?: object | undefined;
  /** Receives sentences about ignored variables. */
  readonly warn?: (sentence: string) => void;
}

/**
 * Gathers all settings. Flags override the environment, which overrides the file, which overrides the defaults.
 *
 * @throws SettingsError for the first unknown or invalid setting
 */
export function loadSettings({
  flags = {},
  env = {},
  configFile,
  given: nested = {},
  warn = () => {},
}: SettingSources = {}): Settings {
  const file =
    configFile === undefined
      ? settingsIn(nested, process.cwd(), "the object given to open()")
      : readSettingsFile(configFile);
  const environment = readEnvironment(env);
  const given = new Map<string, unknown>([...file, ...environment.values, ...readFlags(flags)]);
  if (environment.passedOver.length > 0) warn(passedOverWarning(environment.passedOver));
  const settings: Tree = {};
  for (const leaf of LEAVES) {
    const { name, path, schema } = leaf;
    const value = given.has(name) ? given.get(name) : defaultOf(leaf);
    if (value === undefined) continue;
    place(settings, path, schema.type === "object" ? withDefaults(schema, value) : value);
  }
  settings.dataDir = resolve(String(settings.dataDir));
  return freezeDeeply(settings) as Settings;
}

function passedOverWarning(variables: readonly string[]): string {
  return (
    `Passed over, as an orchestrator's variables and no settings: ${variables.join(", ")} ` +
    "(in Kubernetes, enableServiceLinks: false leaves them out)."
  );
}

interface Tree {
  [key: string]: unknown;
}

function defaultOf(leaf: Leaf): unknown {
  return leaf.name === "dataDir" ? envPaths("antiphon", { suffix: "" }).data : leaf.schema.default;
}

function place(tree: Tree, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  tree[key] ??= {};
  place(tree[key] as Tree, rest, value);
}

function freezeDeeply(value: unknown): unknown {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) freezeDeeply(part);
    Object.freeze(value);
  }
  return value;
}

/**
 * Reads flags by setting name.
 *
 * @throws SettingsError for an unknown setting or an invalid value
 */
function readFlags(flags: Readonly<Record<string, string | boolean | undefined>>): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, given] of Object.entries(flags)) {
    if (given === undefined) continue;
    const leaf = LEAVES.find((candidate) => candidate.name === name);
    if (leaf === undefined) throw unknownFlag(name);
    const value = typeof given === "string" ? readText(leaf.schema, given) : given;
    if (!accepts(leaf.schema, value)) throw refused(leaf, given);
    values.set(name, value);
  }
  return values;
}

function refused(leaf: Leaf, given: string | boolean): SettingsError {
  return new SettingsError(
    "flag",
    `The flag ${leaf.flag} is ${withoutLogins(JSON.stringify(given))}, but it takes ${expectation(leaf.schema)}: correct it or leave it out.`,
  );
}

function unknownFlag(name: string): SettingsError {
  const known = LEAVES.map((leaf) => leaf.name);
  const remedy = remedyFor(nearestName(name, known), "leave it out");
  return new SettingsError("flag", `The flag ${JSON.stringify(name)} names no setting: ${remedy}`);
}

import { nearestName, remedyFor } from "../core/nearest-name.ts";
import { LEAVES, type Leaf } from "./leaves.ts";
import { SettingsError, withoutLogins } from "./settings-error.ts";
import { accepts, expectation, readText } from "./values.ts";

/**
 * Reads flags, given by the name of their setting.
 *
 * @throws SettingsError when one names no setting or holds a value that its setting does not take.
 */
export function readFlags(
  flags: Readonly<Record<string, string | boolean | undefined>>,
): Map<string, unknown> {
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

import { LEAVES } from "./leaves.ts";
import { nearest } from "./nearest.ts";
import { SettingsError } from "./settings-error.ts";
import { accepts, expectation, readText } from "./values.ts";

/** Variables under our prefix that are no settings: how the program reports, and a secret that no file or flag may hold. */
const OTHER_VARIABLES: readonly string[] = ["ANTIPHON_DEBUG", "ANTIPHON_WRITER_API_KEY"];

/**
 * Reads the `ANTIPHON_…` variables.
 *
 * @throws SettingsError when one names no setting or holds a value that its setting does not take.
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined || !variable.startsWith("ANTIPHON_")) continue;
    if (OTHER_VARIABLES.includes(variable)) continue;
    const leaf = LEAVES.find((candidate) => candidate.variable === variable);
    if (leaf === undefined) throw unknownVariable(variable);
    const value = readText(leaf.schema, text);
    if (!accepts(leaf.schema, value)) {
      throw new SettingsError(
        "environment",
        `The environment variable ${variable} is ${JSON.stringify(text)}, but the setting ${leaf.name} takes ${expectation(leaf.schema)}: correct or unset it.`,
      );
    }
    values.set(leaf.name, value);
  }
  return values;
}

function unknownVariable(variable: string): SettingsError {
  const meant = nearest(
    variable,
    LEAVES.map((leaf) => leaf.variable),
  );
  const remedy = meant === null ? "unset it (docs/settings.md lists them all)" : `did you mean ${meant}?`;
  return new SettingsError(
    "environment",
    `The environment variable ${variable} names no setting: ${remedy}${meant === null ? "." : ""}`,
  );
}

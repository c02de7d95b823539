import { goneSettings, withoutFormerNames } from "./former-names.ts";
import { LEAVES, namesOf } from "./leaves.ts";
import { type Fault, faultIn } from "./named-things.ts";
import { nearest } from "./nearest.ts";
import { isOrchestrators } from "./orchestrator.ts";
import { SettingsError } from "./settings-error.ts";
import { readText } from "./values.ts";
import { withoutLogins } from "./without-logins.ts";

/** What the `ANTIPHON_…` variables say. */
export interface EnvironmentSettings {
  /** By the name of their setting. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Variables that an orchestrator set by itself, and that say nothing. */
  readonly passedOver: readonly string[];
}

/**
 * Variables under our prefix that are no settings: how the program reports, secrets that no file or flag may hold, and
 * the API key that clients and the examples in the documentation look for.
 */
const OTHER_VARIABLES: readonly string[] = [
  "ANTIPHON_DEBUG",
  "ANTIPHON_WRITER_API_KEY",
  "ANTIPHON_RECOGNISER_API_KEY",
  "ANTIPHON_WYOMING_KEY",
  "ANTIPHON_STORE_URL",
  "ANTIPHON_BUCKETS_URL",
  "ANTIPHON_KEY",
];

/** Variables of settings that are gone, with what is said of each. */
const GONE_VARIABLES: ReadonlyMap<string, string> = new Map(
  goneSettings().map(({ name, warning }) => [namesOf(name.split(".")).variable, warning]),
);

/**
 * Reads the `ANTIPHON_…` variables.
 *
 * @throws SettingsError when one names no setting or holds a value that its setting does not take, unless an
 * orchestrator set it.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  warn: (sentence: string) => void,
): EnvironmentSettings {
  const values = new Map<string, unknown>();
  const passedOver: string[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined || !variable.startsWith("ANTIPHON_")) continue;
    if (OTHER_VARIABLES.includes(variable)) continue;
    const gone = GONE_VARIABLES.get(variable);
    if (gone !== undefined) {
      warn(gone);
      continue;
    }
    const leaf = LEAVES.find((candidate) => candidate.variable === variable);
    const value =
      leaf === undefined ? undefined : withoutFormerNames(readText(leaf.schema, text), warn, leaf.name);
    const fault = leaf === undefined ? null : faultIn(leaf.schema, value, leaf.name);
    if (leaf !== undefined && fault === null) values.set(leaf.name, value);
    else if (isOrchestrators(variable, text)) passedOver.push(variable);
    else throw fault === null ? unknownVariable(variable) : refused(variable, text, fault);
  }
  return { values, passedOver };
}

function refused(variable: string, text: string, fault: Fault): SettingsError {
  const { name, kind, takes } = fault;
  const told = withoutLogins(text);
  const shown = JSON.stringify(told.length > 80 ? `${told.slice(0, 79)}…` : told);
  const why =
    kind === "unknown"
      ? `${JSON.stringify(name)} is no setting${takes === null ? "" : `, and ${takes} may be meant`}`
      : `the setting ${name} ${kind === "missing" ? "is missing and takes" : "takes"} ${takes}`;
  return new SettingsError(
    "environment",
    `The environment variable ${variable} is ${shown}, but ${why}: correct or unset it.`,
  );
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

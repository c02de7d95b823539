import { isIP } from "node:net";
import { nearestName, remedyFor } from "../core/nearest-name.ts";
import { LEAVES, readText } from "./leaves.ts";
import { type Fault, faultIn } from "./nested-settings.ts";
import { quotable, SettingsError } from "./settings-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface EnvironmentSettings {
  /** By setting name. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Ignored variables that an orchestrator set. */
  readonly passedOver: readonly string[];
}

/**
 * Variables with our prefix that are not settings: reporting options, secrets that may not be in a file or flag, and
 * the API key that clients and the documentation's examples use.
 */
const OTHER_VARIABLES: readonly string[] = [
  "ANTIPHON_DEBUG",
  "ANTIPHON_WRITER_API_KEY",
  "ANTIPHON_RECOGNISER_API_KEY",
  "ANTIPHON_TWILIO_AUTH_TOKEN",
  "ANTIPHON_WYOMING_KEY",
  "ANTIPHON_STORE_URL",
  "ANTIPHON_BUCKETS_URL",
  "ANTIPHON_KEY",
];

/**
 * Reads the `ANTIPHON_…` variables.
 *
 * @throws SettingsError for an unknown setting or an invalid value, unless an orchestrator set it
 */
export function readEnvironment(env: Environment): EnvironmentSettings {
  const values = new Map<string, unknown>();
  const passedOver: string[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined || !variable.startsWith("ANTIPHON_")) continue;
    if (OTHER_VARIABLES.includes(variable)) continue;
    const leaf = LEAVES.find((candidate) => candidate.variable === variable);
    const value = leaf === undefined ? undefined : readText(leaf.schema, text);
    const fault = leaf === undefined ? null : faultIn(leaf.schema, value, leaf.name);
    if (leaf !== undefined && fault === null) values.set(leaf.name, value);
    else if (isOrchestrators(variable, text)) passedOver.push(variable);
    else throw fault === null ? unknownVariable(variable) : refused(variable, text, fault);
  }
  return { values, passedOver };
}

function refused(variable: string, text: string, fault: Fault): SettingsError {
  const { name, kind, takes } = fault;
  const shown = JSON.stringify(quotable(text));
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
  const known = LEAVES.map((leaf) => leaf.variable);
  const remedy = remedyFor(nearestName(variable, known), "unset it");
  return new SettingsError("environment", `The environment variable ${variable} names no setting: ${remedy}`);
}

/**
 * Whether Kubernetes or Docker set a variable, for a service or linked container called `antiphon` or `antiphon-…`.
 * Name and value must both match, so that an invalid setting is not ignored.
 */
function isOrchestrators(variable: string, text: string): boolean {
  return SHAPES.some(({ ending, holds }) => ending.test(variable) && holds(text));
}

interface Shape {
  /** Matches the end of the name, after the service's. */
  readonly ending: RegExp;
  /** Whether a text is a possible value. */
  holds(text: string): boolean;
}

const SHAPES: readonly Shape[] = [
  // Kubernetes: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
  { ending: /_SERVICE_HOST$/, holds: isAddress },
  { ending: /_SERVICE_PORT(_[A-Z0-9_]+)?$/, holds: isPort },
  // Docker links, which Kubernetes imitates: https://docs.docker.com/engine/network/links/#environment-variables
  { ending: /_PORT(_\d+_(TCP|UDP|SCTP)(_START|_END)?)?$/, holds: isEndpoint },
  { ending: /_PORT_\d+_(TCP|UDP|SCTP)_ADDR$/, holds: isAddress },
  { ending: /_PORT_\d+_(TCP|UDP|SCTP)_PORT(_START|_END)?$/, holds: isPort },
  { ending: /_PORT_\d+_(TCP|UDP|SCTP)_PROTO$/, holds: (text) => /^(tcp|udp|sctp)$/.test(text) },
  // Docker only: the linked container and its environment.
  { ending: /_NAME$/, holds: (text) => /^\/[^/]+\/[^/]+$/.test(text) },
  { ending: /_ENV_\w+$/, holds: () => true },
];

function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

/** As in `tcp://10.0.0.1:8080` or `udp://[fd00::1]:53`. */
function isEndpoint(text: string): boolean {
  const [, host = "", port = ""] = /^(?:tcp|udp|sctp):\/\/(.+):(\d+)$/.exec(text) ?? [];
  return isAddress(host.replace(/^\[(.*)\]$/, "$1")) && isPort(port);
}

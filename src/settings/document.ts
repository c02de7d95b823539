import { pathToFileURL } from "node:url";
import { expectation, LEAVES, type Leaf, type LeafSchema } from "./leaves.ts";
import { neededIn } from "./nested-settings.ts";

const PREFACE = `# Settings

<!-- Generated from src/settings/schema.ts: npm run build && node dist/src/settings/document.js > docs/settings.md -->

Settings come from flags, environment variables, or a JSON file that is given with \`--config\`. Flags take precedence over the
environment, the environment over the file, and the file over the defaults below. Antiphon refuses to start if a setting is
unknown or has an invalid value, and names it. In the file, each dot is a level:
\`{"port": 8080, "metrics": {"enabled": false}}\`. In the environment, commas separate the items of a list.
\`antiphon serve --help\` lists the settings that have a flag.

| setting | variable | takes | default | meaning |
|---|---|---|---|---|`;

/** Renders docs/settings.md from the schema. */
export function settingsDocument(): string {
  const named = LEAVES.filter(({ schema }) => schema.type === "object").flatMap(({ name, schema }) =>
    membersOf(schema, name),
  );
  const tables = [
    [PREFACE, ...LEAVES.map(row)],
    [NAMED, ...named.map(([name, schema, isNeeded]) => innerRow(name, schema, isNeeded))],
  ];
  return `${tables.map((lines) => lines.join("\n")).join("\n\n")}\n\n${OTHER_VARIABLES}\n`;
}

const NAMED = `\`models\`, \`checkpoints\` and \`voices\` contain entries under names that you choose. In the environment, each is one JSON
object. Their entries:

| setting | takes | default | meaning |
|---|---|---|---|`;

type Member = readonly [name: string, schema: LeafSchema, isNeeded: boolean];

/** Describes the members of an object setting, in the order of the schema. */
function membersOf(schema: LeafSchema, name: string, isNeeded = false): Member[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([key, of]) =>
    membersOf(of, `${name}.${key}`, neededIn(schema).includes(key)),
  );
  if (inner.length > 0) return inner;
  const each = schema.additionalProperties === false ? Object.values(schema.patternProperties ?? {}) : [];
  if (each.length > 0) return each.flatMap((of) => membersOf(of, `${name}.NAME`));
  return [[name, schema, isNeeded]];
}

function innerRow(name: string, schema: LeafSchema, isNeeded: boolean): string {
  const known = schema.default === undefined ? "" : `\`${schema.default}\``;
  const cells = [`\`${name}\``, takesOf(schema), isNeeded ? "needed" : known, schema.description ?? ""];
  return `| ${cells.join(" | ")} |`;
}

function takesOf(schema: LeafSchema): string {
  return `${expectation(schema)}${schema.unit === undefined ? "" : ` (${schema.unit})`}`;
}

const OTHER_VARIABLES = `Some variables are not settings. With \`ANTIPHON_DEBUG=1\`, a command that fails also prints a stack trace.
\`ANTIPHON_WRITER_API_KEY\` contains the API key for the writer's chat endpoint, \`ANTIPHON_RECOGNISER_API_KEY\` the one for the
recogniser's endpoint (for a remote checkpoint, it is in the variable named by its \`keyEnv\`), \`ANTIPHON_WYOMING_KEY\` the key
under which clients of the Wyoming protocol are metered, \`ANTIPHON_TWILIO_AUTH_TOKEN\` the token that Twilio signs telephone
streams with, \`ANTIPHON_STORE_URL\` the address of a PostgreSQL database, and \`ANTIPHON_BUCKETS_URL\` that of shared
buckets. Clients and examples read an API key from \`ANTIPHON_KEY\`; the program itself does not. \`HF_TOKEN\`, \`HF_ENDPOINT\` and
\`PYTHON\` determine how models are pulled (\`antiphon models pull --help\`). The variables that Kubernetes and Docker set by
themselves for a service named \`antiphon\` or \`antiphon-…\` (\`ANTIPHON_PORT=tcp://10.0.0.1:8080\`,
\`ANTIPHON_SERVICE_HOST\`) are ignored, with one warning on standard error.`;

function row(leaf: Leaf): string {
  const cells = [
    `\`${leaf.name}\``,
    `\`${leaf.variable}\``,
    takesOf(leaf.schema),
    shownDefault(leaf),
    leaf.schema.description ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}

function shownDefault(leaf: Leaf): string {
  if (leaf.name === "dataDir") return "the platform's data folder";
  const value = leaf.schema.default;
  if (leaf.schema.type === "object" || (Array.isArray(value) && value.length === 0)) return "none";
  return value === undefined ? "" : `\`${value}\``;
}

const invokedDirectly = import.meta.url === pathToFileURL(process.argv[1] ?? "").href;
if (invokedDirectly) process.stdout.write(settingsDocument());

import { pathToFileURL } from "node:url";
import { LEAVES, type Leaf } from "./leaves.ts";
import { expectation } from "./values.ts";

const PREFACE = `# Settings

<!-- Generated from src/settings/schema.ts: npm run build && node dist/src/settings/document.js > docs/settings.md -->

You set a setting with a flag, with an environment variable, or in a JSON file that \`--config\` names. Flags win over the
environment, the environment over the file, and the file over the defaults below. Antiphon refuses to run with a setting
that is unknown or has a value that it does not take, and names it. In the file each dot is a level:
\`{"port": 8080, "metrics": {"enabled": false}}\`. In the environment, commas separate the items of a list.
\`antiphon serve --help\` lists the settings that have a flag.

| setting | variable | takes | default | meaning |
|---|---|---|---|---|`;

/** docs/settings.md, as the schema has it. */
export function settingsDocument(): string {
  return `${[PREFACE, ...LEAVES.map(row)].join("\n")}\n\n${OTHER_VARIABLES}\n`;
}

const OTHER_VARIABLES = `Some variables are not settings. With \`ANTIPHON_DEBUG=1\`, a command that fails also prints where it failed.
\`ANTIPHON_WRITER_API_KEY\` holds the key for the writer's chat endpoint, \`ANTIPHON_RECOGNISER_API_KEY\` that for the
recogniser's, \`ANTIPHON_WYOMING_KEY\` the key by which clients of the Wyoming protocol are metered, \`ANTIPHON_STORE_URL\`
the address of a PostgreSQL database, and \`ANTIPHON_BUCKETS_URL\` that of shared buckets. \`ANTIPHON_KEY\` is where clients
and examples look for an API key; the program itself does not. \`HF_TOKEN\`, \`HF_ENDPOINT\` and \`PYTHON\` say how models
are pulled (\`antiphon models pull --help\`). What Kubernetes and Docker set by themselves for a service named
\`antiphon\` or \`antiphon-…\` (\`ANTIPHON_PORT=tcp://10.0.0.1:8080\`, \`ANTIPHON_SERVICE_HOST\`) is ignored, with one warning
on standard error.`;

function row(leaf: Leaf): string {
  const unit = leaf.schema.unit === undefined ? "" : ` (${leaf.schema.unit})`;
  const cells = [
    `\`${leaf.name}\``,
    `\`${leaf.variable}\``,
    `${expectation(leaf.schema)}${unit}`,
    shownDefault(leaf),
    leaf.schema.description ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}

function shownDefault(leaf: Leaf): string {
  if (leaf.name === "dataDir") return "the platform's data folder";
  const value = leaf.schema.default;
  if (Array.isArray(value) && value.length === 0) return "none";
  return value === undefined ? "" : `\`${value}\``;
}

const invokedDirectly = import.meta.url === pathToFileURL(process.argv[1] ?? "").href;
if (invokedDirectly) process.stdout.write(settingsDocument());

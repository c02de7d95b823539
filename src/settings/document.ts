import { LEAVES, type LeafSchema } from "./leaves.ts";
import { neededIn } from "./nested-settings.ts";

const PREFACE = `# Settings

<!-- Generated from src/settings/schema.ts by scripts/docs.mjs -->

This page lists every setting. Settings come from flags, environment variables or a JSON file, in this order of precedence:

\`\`\`sh
antiphon serve --port 8081
ANTIPHON_METRICS_ENABLED=false antiphon serve
echo '{"port": 8081, "metrics": {"enabled": false}}' > settings.json
antiphon serve --config settings.json
\`\`\`

- **File**: each dot in a name is a level. Relative paths start at the file's folder.
- **Variable**: \`ANTIPHON_\` and the name in capitals, with \`_\` before each word: \`dataDir\` is \`ANTIPHON_DATA_DIR\`,
  \`metrics.port\` is \`ANTIPHON_METRICS_PORT\`. Commas separate list items. \`models\`, \`checkpoints\` and \`voices\` each take one
  JSON object, with names of your choice for \`NAME\`.
- **Flags**: \`antiphon serve --help\` lists them.

Names end in their unit: \`Ms\`, \`S\`, \`Mb\` (MiB), \`Bytes\`, \`Days\`, \`Hz\`. The second column has the default in bold, then the other
choices or the range. A server with an unknown setting or an invalid value does not start, and names it.`;

/** Titles of the sections, by the first name part of their first setting in the order of the schema. */
const SECTIONS: Readonly<Record<string, string>> = {
  host: "Server",
  dataDir: "Store and keys",
  concurrency: "Limits",
  queueWaitMs: "Timeouts",
  workers: "Voices and models",
  writer: "Writer",
  recogniser: "Recogniser",
  realtime: "Realtime",
  twilio: "Other protocols",
  logLevel: "Logs and metrics",
};

const VARIABLES = `## Other variables

| variable | meaning |
|---|---|
| \`ANTIPHON_STORE_URL\`, \`ANTIPHON_BUCKETS_URL\` | URLs; override \`urlFile\` |
| \`ANTIPHON_WRITER_API_KEY\`, \`ANTIPHON_RECOGNISER_API_KEY\` | override \`apiKeyFile\` |
| \`ANTIPHON_WYOMING_KEY\`, \`ANTIPHON_TWILIO_AUTH_TOKEN\` | override \`wyomingKeyFile\` and \`twilio.authTokenFile\` |
| \`ANTIPHON_KEY\` | API key for clients and examples; the server ignores it |
| \`ANTIPHON_DEBUG=1\` | a failing command also prints a stack trace |
| \`HF_TOKEN\`, \`HF_ENDPOINT\`, \`PYTHON\` | see \`antiphon models pull --help\` |

Variables that Kubernetes or Docker set for a service named \`antiphon\` (\`ANTIPHON_PORT=tcp://…\`) cause only a warning.`;

/** Renders docs/settings.md from the schema. */
export function settingsDocument(): string {
  const tables = LEAVES.flatMap(({ path: [first = ""], name, schema }, index) => {
    const isFirst = LEAVES.findIndex(({ path }) => path[0] === first) === index;
    const heading = isFirst && SECTIONS[first] ? [`\n## ${SECTIONS[first]}\n\n${HEADING}`] : [];
    const rows = membersOf(schema, name).map(
      ([member, of, isNeeded]) => `| \`${member}\` | ${valuesOf(of, isNeeded)} | ${of.description} |`,
    );
    return [...heading, ...rows];
  });
  return `${[PREFACE, ...tables].join("\n")}\n\n${VARIABLES}\n`;
}

const HEADING = "| setting | values | meaning |\n|---|---|---|";

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

/** Returns the default, the other choices and the range. */
function valuesOf(schema: LeafSchema, isNeeded: boolean): string {
  const { default: value, enum: choices = [], minimum, maximum } = schema;
  const preset = value === undefined || `${value}` === "" ? [] : [`**\`${value}\`**`];
  const others = choices.filter((choice) => choice !== value).map((choice) => `\`${choice}\``);
  const range = minimum === undefined ? [] : [`${minimum}–${maximum}`];
  return [...(isNeeded ? ["required"] : preset), ...others, ...range].join(", ");
}

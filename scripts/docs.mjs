// Writes the pages of docs/ that are generated from the source:
//
//   npm run build && node scripts/docs.mjs
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { openApiDocument } from "../dist/src/api/http/openapi/openapi-document.js";
import { createProgram } from "../dist/src/cli/program.js";
import { settingsDocument } from "../dist/src/settings/document.js";

/** Generated pages: path from the top of the repository → function that returns the text. */
export const PAGES = {
  "docs/command-line.md": commandLine,
  "docs/http-api.md": httpApi,
  "docs/settings.md": settingsDocument,
};

const COMMAND_LINE = `# Command line

<!-- Generated from the commands' help: npm run build && node scripts/docs.mjs -->

This page lists every command and option of \`antiphon\`. In a checkout, type \`npx antiphon\`.

\`\`\`sh
antiphon serve                                  # start the server; prints the address and the first key
antiphon keys create --label phone              # make another key; the server needs no restart
antiphon say "Good morning." -o morning.mp3     # speak without a server
antiphon transcribe morning.mp3                 # transcribe without a server
\`\`\`

Exit codes: 0, 1 (failed) or 2 (wrong arguments). Errors are one sentence on standard error; \`ANTIPHON_DEBUG=1\` adds the
stack trace. See also [settings](settings.md).`;

/** Returns the help of all commands, with the options that all share only once. */
function commandLine() {
  const program = createProgram(process);
  const shared = program.options.map(({ flags }) => flags);
  const rowsOf = ({ registeredArguments, options }, omitted = shared) => [
    ...registeredArguments.map((argument) => [argument.name(), argument.description]),
    ...options
      .filter(({ flags, hidden }) => !hidden && !omitted.includes(flags))
      .map(({ flags, description, defaultValue, mandatory }) => {
        const shown =
          typeof defaultValue === "string" ? ` (default: ${defaultValue})` : mandatory ? " (required)" : "";
        return [flags, `${description}${shown}`];
      }),
  ];
  const helpOf = (command) => {
    const parent = command.parent === program ? "" : `${command.parent.name()} `;
    const usage = `antiphon ${parent}${command.name()} ${command.usage().replace("[options] ", "")}`;
    return [usage.replace(" [options]", ""), `    ${command.description()}`, ...helpLines(rowsOf(command))];
  };
  const sections = program.commands.map((command) => {
    const commands = command.commands.length === 0 ? [command] : command.commands;
    return [
      `## ${command.name()}`,
      "",
      "```text",
      commands.map((each) => helpOf(each).join("\n")).join("\n\n"),
      "```",
    ];
  });
  const common = ["## Options of every command", "", "```text", ...helpLines(rowsOf(program, [])), "```"];
  return `${[[COMMAND_LINE], common, ...sections].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Returns rows of names and descriptions in two columns, at most 120 characters wide. */
function helpLines(rows) {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, description]) => {
    const lines = description.match(new RegExp(`\\S.{0,${117 - width}}(?=\\s|$)`, "g")) ?? [""];
    return lines.map((line, index) => `  ${(index === 0 ? name : "").padEnd(width)}${line}`);
  });
}

const HTTP_API = `# HTTP API

<!-- Generated from the OpenAPI document: npm run build && node scripts/docs.mjs -->

This page lists every endpoint. For fields, examples and a form to try each endpoint, open
[/docs](http://127.0.0.1:8080/docs) on a running server; \`GET /openapi.json\` returns the same as OpenAPI 3.1.

\`\`\`sh
curl -s http://127.0.0.1:8080/v1/audio/speech -H "Authorization: Bearer $ANTIPHON_KEY" \\
  -H "Content-Type: application/json" -d '{"input": "The kettle is on."}' -o kettle.mp3
\`\`\`

Send the API key as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. See also [audio formats](formats.md),
[errors, limits and headers](errors.md) and the [Realtime protocol](realtime.md).`;

/** Returns one table per tag of the OpenAPI document: each endpoint and its summary. */
function httpApi() {
  const { paths, tags } = openApiDocument();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => ({ ...about, method: method.toUpperCase(), path })),
  );
  const sections = tags.map(({ name, description }) => {
    const rows = operations
      .filter((operation) => operation.tags.includes(name))
      .map(({ method, path, summary }) => `| \`${method} ${path}\` | ${summary} |`);
    const title = `${name[0].toUpperCase()}${name.slice(1)}`;
    return [`## ${title}`, "", description, "", "| endpoint | |", "|---|---|", ...rows].join("\n");
  });
  return `${[HTTP_API, ...sections].join("\n\n")}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [page, text] of Object.entries(PAGES)) {
    writeFileSync(new URL(`../${page}`, import.meta.url), text());
  }
}

import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP, temporaryFolder } from "./folders.ts";
import { startServerProcess } from "./server-process.ts";

/** Replaces the network exporter, and writes spans into a file. */
const EXPORTER = `
import { appendFileSync } from "node:fs";
export class OTLPTraceExporter {
  export(spans, done) {
    for (const span of spans) {
      const service = span.resource.attributes["service.name"];
      const spans = { name: span.name, service, parent: span.parentSpanContext, ...span.spanContext() };
      appendFileSync(process.env.TRACES, JSON.stringify(spans) + "\\n");
    }
    done({ code: 0 });
  }
  async shutdown() {}
}
`;

interface Span {
  readonly name: string;
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: { readonly spanId: string };
}

it("the tracing example of docs/monitoring.md exports every request", async () => {
  const page = readFileSync(join(TOP, "docs", "monitoring.md"), "utf8");
  const [, example = ""] = /```js\n(\/\/ otel\.mjs\n[\s\S]*?)```/.exec(page) ?? [];
  const folder = temporaryFolder();
  const otel = join(folder, "otel.mjs");
  const traces = join(folder, "traces.jsonl");
  symlinkSync(join(TOP, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "exporter.mjs"), EXPORTER);
  const sendsElsewhere = example.replace('"@opentelemetry/exporter-trace-otlp-http"', '"./exporter.mjs"');
  assert.notEqual(sendsElsewhere, example);
  writeFileSync(otel, sendsElsewhere);
  writeFileSync(traces, "");
  const server = await startServerProcess({
    env: { NODE_OPTIONS: `--import ${pathToFileURL(otel)}`, TRACES: traces },
  });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const reply = await fetch(`${server.url}/v1/tts`, {
    method: "POST",
    headers: {
      "X-API-Key": server.key,
      "Content-Type": "application/json",
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ text: "Follow me." }),
  });
  assert.equal(reply.status, 200, await reply.text());
  assert.equal((await server.stop()).code, 0, server.stderr());
  const spans: Span[] = readFileSync(traces, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(spans.map(({ name }) => name).sort(), ["POST /v1/tts", "first audio", "queue"]);
  const request = spans.find(({ name }) => name === "POST /v1/tts");
  assert.equal(request?.parent?.spanId, "b7ad6b7169203331");
  for (const { name, service, ...span } of spans) {
    assert.deepEqual([service, span.traceId], ["antiphon", traceId]);
    if (name !== "POST /v1/tts") assert.equal(span.parent?.spanId, request?.spanId);
  }
});

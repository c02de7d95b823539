import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { beginServerSpan, NO_SPAN } from "../../src/core/span.ts";
import { aTrace, idOf, spansOf, traceHere } from "../requests/collected.ts";

test("without an SDK there is no span, whatever a client sends", () => {
  const span = beginServerSpan("GET /", {}, aTrace().headers);
  assert.equal(span, NO_SPAN);
  assert.equal(span.begin("within"), NO_SPAN);
  assert.deepEqual([span.headers, span.traceId], [{}, null]);
});

describe("with an SDK", () => {
  traceHere();

  test("a span is a child of the client's, and ends once", async () => {
    const mine = aTrace();
    const span = beginServerSpan("GET /", { size: 1 }, mine.headers);
    const within = span.begin("within", { size: 2 });
    assert.deepEqual([span.traceId, within.traceId], [mine.id, mine.id]);
    within.end("TimeoutError");
    within.end();
    within.set({ size: 3 });
    span.end();
    const spans = await spansOf(mine);
    assert.deepEqual(spans.names, ["GET /", "within"]);
    assert.equal(spans.request.parentSpanContext?.spanId, mine.parentId);
    assert.equal(spans.of("within").parentSpanContext?.spanId, idOf(spans.request));
    assert.deepEqual(spans.of("within").attributes, { size: 2, "error.type": "TimeoutError" });
    assert.equal(spans.of("within").status.code, SpanStatusCode.ERROR);
    assert.equal(spans.request.status.code, SpanStatusCode.UNSET);
  });

  test("late attributes are read at the end, once", async () => {
    const mine = aTrace();
    const span = beginServerSpan("GET /", {}, mine.headers);
    let frames = 0;
    span.atEnd(() => ({ frames: ++frames }));
    frames = 4;
    span.end();
    span.end();
    assert.deepEqual((await spansOf(mine)).request.attributes, { frames: 5 });
  });

  test("a span is a child of the request's current one", async () => {
    const mine = aTrace();
    const inHand = trace
      .getTracer("another")
      .startSpan("in hand", {}, propagation.extract(ROOT_CONTEXT, mine.headers));
    const other = aTrace();
    context.with(trace.setSpan(ROOT_CONTEXT, inHand), () =>
      beginServerSpan("GET /", {}, other.headers).end(),
    );
    inHand.end();
    const spans = await spansOf(mine);
    assert.equal(spans.request.parentSpanContext?.spanId, idOf(spans.of("in hand")));
  });
});

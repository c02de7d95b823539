import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatLogLine } from "../../src/cli/serve.ts";

const TIME = new Date(2026, 0, 2, 3, 4, 5).getTime();
const line = (event: object) => JSON.stringify({ level: 30, time: TIME, pid: 7, hostname: "here", ...event });

describe("the log on a terminal", () => {
  it("has a short line for a request that went well", () => {
    const request = { method: "POST", route: "/v1/tts", status: 200, ms: 168.5, end: "finished" };
    const ids = { request_id: "req_1", key_id: "key_1", trace_id: "0af7" };
    assert.equal(
      formatLogLine(line({ ...ids, ...request, msg: "request" })),
      "03:04:05 POST /v1/tts 200, 168.5 ms",
    );
  });

  it("has the reason and the id of a request that failed", () => {
    const request = { method: "POST", route: "/v1/converse", status: 502, ms: 12, end: "failed" };
    const why = { error: "writer_unavailable", message: "Nobody writes." };
    assert.equal(
      formatLogLine(line({ level: 40, request_id: "req_1", ...request, ...why, msg: "request" })),
      '03:04:05 warning: POST /v1/converse 502, 12 ms (failed) request_id=req_1 error=writer_unavailable message="Nobody writes."',
    );
    const left = {
      route: "wyoming:synthesize",
      ms: 3,
      end: "left",
      left_because: "it closed the connection",
    };
    assert.equal(
      formatLogLine(line({ ...left, msg: "request" })),
      '03:04:05 wyoming:synthesize, 3 ms (left) left_because="it closed the connection"',
    );
  });

  it("has the stack of an unexpected error below its line", () => {
    const err = { type: "TypeError", message: "no", stack: "TypeError: no\n    at there (file.ts:1:2)" };
    assert.equal(
      formatLogLine(line({ level: 50, err, msg: "decoding thread" })),
      "03:04:05 error: decoding thread\n  TypeError: no\n      at there (file.ts:1:2)",
    );
  });

  it("shows other fields, and omits where the server listens", () => {
    const other = {
      level: 40,
      checkpoint: "heart",
      kind: "failing",
      problem: "it hangs",
      msg: "speech thread",
    };
    assert.equal(
      formatLogLine(line(other)),
      '03:04:05 warning: speech thread checkpoint=heart kind=failing problem="it hangs"',
    );
    assert.equal(formatLogLine(line({ msg: "Server listening at http://127.0.0.1:8080" })), null);
  });
});

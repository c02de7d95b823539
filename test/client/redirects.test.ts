import assert from "node:assert/strict";
import { test } from "node:test";
import { Antiphon, AntiphonError } from "../../src/client/antiphon.ts";
import { json, startOddServer } from "./odd-server.ts";

function isRedirect(status: number | null): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof AntiphonError, `${error}`);
    assert.deepEqual([error.type, error.status], ["invalid_response", status]);
    assert.match(error.message, /set baseUrl to where it is/);
    return true;
  };
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a ${status} is not followed with what was meant for this server, nor asked again`, async () => {
    await using elsewhere = await startOddServer(json(200, { data: [] }));
    await using server = await startOddServer(
      json(status, { error: { type: "not_found" } }, { Location: elsewhere.url }),
    );
    const antiphon = new Antiphon({ baseUrl: server.url, apiKey: "ant_x" });
    await assert.rejects(antiphon.models(), isRedirect(status));
    await assert.rejects(antiphon.tts({ text: "Hi." }), isRedirect(status));
    await assert.rejects(antiphon.transcribe({ file: new Uint8Array(4) }), isRedirect(status));
    await assert.rejects(antiphon.stream({ conversation: [{ text: "Hi." }] }).next(), isRedirect(status));
    assert.deepEqual([server.asked.length, elsewhere.asked.length], [4, 0]);
  });
}

test("a redirect of which a browser tells nothing is one as well", async () => {
  const asked: RequestInit[] = [];
  // What `fetch` gives there has status 0, as this has.
  const opaque = (async (_url: string, init: RequestInit) => {
    asked.push(init);
    return Response.error();
  }) as typeof fetch;
  const antiphon = new Antiphon({ baseUrl: "http://nowhere.invalid", fetch: opaque });
  await assert.rejects(antiphon.models(), isRedirect(null));
  assert.deepEqual(
    asked.map(({ redirect }) => redirect),
    ["manual"],
  );
});

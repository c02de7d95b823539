import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, it } from "node:test";
import Database from "libsql";
import { BookProgress } from "../../../src/cli/book/book-progress.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { readableLog } from "../../../src/cli/serve.ts";
import { PrintedConversation } from "../../../src/cli/talk.ts";
import { type Screen, safeScreen } from "../../../src/cli/terminal/command-io.ts";
import type { RealtimeTurn } from "../../../src/client/realtime.ts";

/** Writes to the clipboard, sets the title, erases the line, and reverses the direction. */
const HOSTILE = "Ann\u001b]52;c;cm0gLXJm\u0007\u001b]0;title\u009c\u009b2K\u007f\r\u202eevil\nYou: yes";
const SHOWN =
  "Ann\\u001b]52;c;cm0gLXJm\\u0007\\u001b]0;title\\u009c\\u009b2K\\u007f\\u000d\\u202eevil\nYou: yes";
/** Control characters, except the sequence that redraws our own line. */
const DRIVES = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const REDRAWN = "\r\u001b[K";

function screenOf(isTTY: boolean) {
  const stream = new PassThrough({ encoding: "utf8" });
  return { screen: Object.assign(stream, { isTTY }), shown: () => `${stream.read() ?? ""}` };
}

/** Returns what a safe screen shows. */
function printed(isTTY: boolean, print: (screen: Screen) => void): string {
  const { screen, shown } = screenOf(isTTY);
  print(safeScreen(screen));
  return shown();
}

/** Returns both outputs of a command. */
async function output(isTTY: boolean, ...line: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-screen-"));
  try {
    const { screen, shown } = screenOf(isTTY);
    const io = {
      env: { ANTIPHON_DATA_DIR: folder },
      stdin: Readable.from([]),
      stdout: screen,
      stderr: screen,
    };
    await runProgram(["keys", "create", "--label", "plain"], io);
    // Labels may be older than their validation.
    const database = new Database(join(folder, "antiphon.db"));
    database.prepare("UPDATE keys SET label = ?").run([HOSTILE]);
    database.close();
    screen.read();
    await runProgram(line, io);
    return shown();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function talkOn(screen: Screen): void {
  const talk = new PrintedConversation(screen);
  const turn = { id: "1", text: HOSTILE, state: "done", words: [] };
  talk.onTurn({ ...turn, role: "user" } as unknown as RealtimeTurn);
  talk.onTurn({ ...turn, id: "2", role: "assistant" } as unknown as RealtimeTurn);
}

describe("a terminal", () => {
  it("shows control characters escaped, and keeps lines and tabs", () => {
    assert.equal(
      printed(true, (screen) => screen.write(HOSTILE)),
      SHOWN,
    );
    assert.equal(
      printed(true, (screen) => screen.write("a\tb\r\nc é שלום 😀\n")),
      "a\tb\nc é שלום 😀\n",
    );
  });

  it("keeps printed JSON valid", () => {
    const value = { label: HOSTILE };
    assert.deepEqual(JSON.parse(printed(true, (screen) => screen.write(JSON.stringify(value)))), value);
  });

  it("gets no control characters from tables, answers and errors", async () => {
    for (const line of [
      ["keys", "list"],
      ["keys", "list", "--json"],
      ["keys", "revoke", HOSTILE],
      [HOSTILE],
    ]) {
      const shown = await output(true, ...line);
      assert.doesNotMatch(shown, DRIVES, line[1]);
      assert.match(shown, /Ann\\u001b\]52/);
    }
    assert.match(await output(true, "keys", "list"), /evil:? You: yes/);
    assert.match(await output(true, HOSTILE), /evil:? You: yes/);
  });

  it("gets no control characters from chapters, replies and log lines", () => {
    const book = printed(true, (screen) => {
      new BookProgress(screen, { totalChars: 10, spokenChars: 10 }).show(5, 1, `\u009b2J\n${HOSTILE}`);
    });
    assert.ok(book.startsWith(REDRAWN));
    assert.doesNotMatch(book.slice(REDRAWN.length), DRIVES);
    assert.doesNotMatch(book, /\n/);
    const talk = printed(true, talkOn);
    assert.doesNotMatch(talk, DRIVES);
    assert.equal(talk.split("\n").length, 3, "a line each");
    const log = printed(true, (screen) => {
      const event = { level: 40, time: 0, msg: HOSTILE, label: HOSTILE.replaceAll(/\s/g, "") };
      readableLog(screen).write(JSON.stringify(event));
    });
    assert.doesNotMatch(log, DRIVES);
    assert.equal(log.split("\n").length, 2);
  });
});

describe("a pipe", () => {
  it("gets every text unchanged", async () => {
    const { screen } = screenOf(false);
    assert.equal(safeScreen(screen), screen);
    assert.equal(printed(false, talkOn), `You: ${HOSTILE}\nAntiphon: ${HOSTILE}\n`);
    const json = await output(false, "keys", "list", "--json");
    assert.equal(JSON.parse(json)[0].label, HOSTILE);
    assert.ok((await output(false, "keys", "list")).includes(HOSTILE));
  });
});

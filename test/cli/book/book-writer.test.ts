import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import fsp, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import { SEGMENTED, type SegmentedKind } from "../../../src/audio/encode/segmented-file.ts";
import { type BookForm, BookWriter } from "../../../src/cli/book/book-writer.ts";
import { temporaryFolder } from "../../e2e/folders.ts";

const PASSAGES = [
  { text: "One.", chapter: "One" },
  { text: "It begins. It goes on.", chapter: null },
  { text: "Two.", chapter: "Two" },
  { text: "It ends.", chapter: null },
].map((passage, at) => ({ ...passage, readChars: 30 * (at + 1) }));

function formIn(
  folder: string,
  encoding: SegmentedKind,
  inFiles: boolean,
  loudness: number | null = null,
): BookForm {
  return {
    output: join(folder, `b.${encoding}`),
    encoding,
    inFiles,
    loudness,
    captions: { file: join(folder, "b.vtt"), form: { ending: "vtt", hasWordTimes: false } },
    options: { "--voice": "0" },
    title: "A Book",
    author: "Ann Äpfel",
  };
}

/** A tenth of a second of a tone, then of silence. */
function soundOf(passage: number): Uint8Array {
  const pcm = new Int16Array(4_800).map((_, at) =>
    at < 2_400 ? 9_000 * Math.sin(at * 0.1 * (passage + 1)) : 0,
  );
  return new Uint8Array(pcm.buffer);
}

/** Writes the missing passages, as `speakBook` does. @param ended receives each passage that ended */
async function write(form: BookForm, ended: number[] = []): Promise<void> {
  const writer = await BookWriter.open(form);
  for (const [at, passage] of PASSAGES.entries()) {
    if (at < writer.kept.passages) continue;
    await writer.begin(passage);
    await writer.add(soundOf(at));
    const word = { word: passage.text, start: 0.1, end: 0.5, offset: 0, length: passage.text.length };
    await writer.end(passage, [word], { passages: at + 1, textHash: `${at}`, readChars: passage.readChars });
    ended.push(at);
  }
  await writer.finish();
}

const files = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );

const REAL = { ...fsp };
const opened: FileHandle[] = [];

/** Allows `change` file operations; the next one never happens, or only half, as when the process is killed. */
function dieAt(change: number): Promise<void> {
  let changes = 0;
  return new Promise((die) => {
    const counted =
      <Args extends unknown[], Result>(
        done: (...args: Args) => Promise<Result>,
        halfDone: (...args: Args) => Promise<unknown> = async () => {},
      ) =>
      async (...args: Args): Promise<Result> => {
        if (changes++ < change) return await done(...args);
        await halfDone(...args);
        die();
        return await new Promise(() => {});
      };
    const open = async (...args: Parameters<typeof fsp.open>) => {
      const handle = await REAL.open(...args);
      opened.push(handle);
      const write = handle.writeFile.bind(handle);
      handle.writeFile = counted(write, (data) => {
        const bytes = Buffer.from(data as Uint8Array);
        return write(bytes.subarray(0, bytes.length >> 1));
      });
      handle.truncate = counted(handle.truncate.bind(handle));
      handle.write = counted(handle.write.bind(handle)) as FileHandle["write"];
      return handle;
    };
    Object.assign(fsp, {
      open: counted(open),
      rename: counted(REAL.rename),
      writeFile: counted(REAL.writeFile, (file, data) =>
        REAL.writeFile(file, `${data}`.slice(0, `${data}`.length >> 1)),
      ),
      rm: counted(REAL.rm),
    });
    syncBuiltinESMExports();
  });
}

async function live(): Promise<void> {
  Object.assign(fsp, REAL);
  syncBuiltinESMExports();
  for (const handle of opened.splice(0)) await handle.close().catch(() => {});
}

describe("BookWriter", () => {
  afterEach(live);

  for (const encoding of SEGMENTED)
    for (const [inFiles, loudness] of [
      [false, null],
      [true, null],
      ...(encoding === "mp3" ? [[true, -16] as const] : []),
    ] as const)
      it(`writes the same ${encoding}${inFiles ? " per chapter" : ""} at ${loudness ?? "its own"} loudness wherever it was killed`, async () => {
        const calm = temporaryFolder();
        await write(formIn(calm, encoding, inFiles, loudness));
        const wanted = files(calm);
        assert.deepEqual(
          Object.keys(wanted),
          inFiles
            ? ["b-01.vtt", `b-01.${encoding}`, "b-02.vtt", `b-02.${encoding}`].toSorted()
            : ["b.vtt", `b.${encoding}`].toSorted(),
        );
        let deaths = 0;
        for (; ; deaths++) {
          const folder = temporaryFolder();
          const form = formIn(folder, encoding, inFiles, loudness);
          const dead = dieAt(deaths).then(() => "dead");
          const ended: number[] = [];
          const end = await Promise.race([dead, write(form, ended)]);
          await live();
          if (end !== "dead") break;
          await write(form, ended);
          assert.ok(
            ended.length <= PASSAGES.length,
            `spoken twice after death at change ${deaths}: ${ended}`,
          );
          assert.deepEqual(files(folder), wanted, `after death at change ${deaths}`);
        }
        assert.ok(deaths > 30, `${deaths} deaths`);
      });
});

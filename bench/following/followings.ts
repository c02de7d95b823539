import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "../once.ts";
import type { Pythons } from "../python.ts";
import { type Reference, references } from "../references.ts";
import { type Acoustics, acousticsOf } from "./acoustics.ts";
import { type HeardWords, heardWordsOf } from "./heard-words.ts";
import { type Likenesses, likenessesOf } from "./likeness.ts";
import { type FollowingPass, followEach } from "./pass.ts";

/** How the voice follows people, found out once for all rows that ask. */
export interface Followings {
  references(): Promise<readonly Reference[]>;
  pass(): Promise<FollowingPass>;
  acoustics(): Promise<readonly Acoustics[]>;
  likenesses(): Promise<Likenesses>;
  words(): Promise<HeardWords>;
  remove(): Promise<void>;
}

export interface FollowingsOptions {
  /** A multiple of four. */
  readonly sentences: number;
  readonly python: Pythons;
  note(text: string): void;
}

export function createFollowings({ sentences, python, note }: FollowingsOptions): Followings {
  let folder: string | null = null;
  const people = once(() => references(python, note));
  const pass = once(async () => {
    const found = await people();
    folder = await mkdtemp(join(tmpdir(), "antiphon-bench-"));
    note(`following ${found.length} people over ${sentences} sentences each`);
    return followEach(found, sentences, folder);
  });
  return {
    references: people,
    pass,
    acoustics: once(async () => acousticsOf(await pass())),
    likenesses: once(async () => likenessesOf(await pass(), python)),
    words: once(async () => heardWordsOf(await pass(), python)),
    async remove() {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { within } from "../../waiting.ts";
import { sha256 } from "./fixture.ts";

export interface FakeRepository {
  /** The commit of `main`. */
  revision: string;
  /** Bytes by commit and path. */
  readonly blobs: Map<string, Buffer>;
  /** The files at `main`. */
  files: Record<string, Buffer>;
  /** Paths stored in Git, listed by blob id instead of SHA-256. */
  inGit: readonly string[];
  /** The metadata of its README. */
  card: Record<string, unknown>;
  /** Requests without this token are rejected. */
  token: string | null;
  /** Edits the API's response. */
  lie: (answer: HubAnswer) => unknown;
  /** Whether the API lists a gated repository without a token. */
  isListed: boolean;
  /** Whether the API serves the tree endpoint. */
  hasTree: boolean;
  /** Handles an API request; returns whether it did. */
  answerApi: (response: ServerResponse) => boolean;
  /** Handles a download; returns whether it did. */
  serve: (response: ServerResponse, bytes: Buffer, from: number, request: IncomingMessage) => boolean;
}

export interface HubAnswer {
  id: string;
  sha: string;
  cardData: Record<string, unknown>;
  siblings: {
    rfilename: string;
    size: number | null;
    blobId?: string;
    lfs: { size: number; sha256: string } | null;
  }[];
}

export interface FakeHub {
  /** For `HF_ENDPOINT`. */
  readonly endpoint: string;
  /** Requested paths, with the start of the range if any. */
  readonly asked: string[];
  /** The token of each request, or `null`. */
  readonly tokens: (string | null)[];
  repository(name: string, files: Record<string, Buffer>): FakeRepository;
  /** Moves `main` to another commit. */
  move(repository: FakeRepository, revision: string, files: Record<string, Buffer>): void;
}

export async function fakeHub(): Promise<FakeHub> {
  const repositories = new Map<string, FakeRepository>();
  const asked: string[] = [];
  const tokens: (string | null)[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://hub");
    const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1];
    asked.push(from === undefined ? pathname : `${pathname} from ${from}`);
    tokens.push(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? null);
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/main$/.exec(pathname);
    const file = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname);
    const tree = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/([^/]+)$/.exec(pathname);
    const name = api?.[1] ?? file?.[1] ?? tree?.[1] ?? "";
    const repository = repositories.get(name);
    if (repository === undefined) {
      // The hub does not reveal whether a private repository exists.
      response.writeHead(401, { "x-error-code": "RepoNotFound" }).end();
    } else if (
      repository.token !== null &&
      tokens.at(-1) !== repository.token &&
      !(repository.isListed && file === null)
    ) {
      response.writeHead(tokens.at(-1) === null ? 401 : 403, { "x-error-code": "GatedRepo" }).end();
    } else if (tree !== null && repository.hasTree && tree[2] === repository.revision) {
      response.end(JSON.stringify(treeOf(repository)));
    } else if (api !== null && repository.answerApi(response)) {
      return;
    } else if (api !== null) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(repository.lie(answerOf(name, repository))));
    } else {
      const bytes = repository.blobs.get(`${file?.[2]}/${decodeURIComponent(file?.[3] ?? "")}`);
      if (bytes === undefined) response.writeHead(404, { "x-error-code": "EntryNotFound" }).end();
      else if (!repository.serve(response, bytes, Number(from ?? 0), request))
        send(response, bytes, Number(from ?? 0));
    }
  });
  server.listen(0, "127.0.0.1");
  await within("a port", once(server, "listening"));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const hub: FakeHub = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    tokens,
    repository(name, files) {
      const repository: FakeRepository = {
        revision: "",
        blobs: new Map(),
        files: {},
        inGit: [],
        card: { license: "apache-2.0" },
        token: null,
        isListed: false,
        hasTree: false,
        answerApi: () => false,
        lie: (answer) => answer,
        serve: () => false,
      };
      repositories.set(name, repository);
      hub.move(repository, COMMIT, files);
      return repository;
    },
    move(repository, revision, files) {
      Object.assign(repository, { revision, files });
      for (const [path, bytes] of Object.entries(files)) repository.blobs.set(`${revision}/${path}`, bytes);
    },
  };
  return hub;
}

export const COMMIT = "a".repeat(40);
export const LATER_COMMIT = "b".repeat(40);

/** Sends a file from an offset, and breaks off after `count` bytes. */
export function send(response: ServerResponse, bytes: Buffer, from: number, count = bytes.length): void {
  const rest = bytes.subarray(from);
  const range = from === 0 ? {} : { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(from === 0 ? 200 : 206, { "content-length": rest.length, ...range });
  if (count >= rest.length) response.end(rest);
  else response.write(rest.subarray(0, count), () => response.socket?.end());
}

/** Breaks off the first download of a path after `count` bytes, and later ones at once. */
export function breakOff(count: number, path = ""): FakeRepository["serve"] {
  return (response, bytes, from, request) => {
    if (request.url?.endsWith(path) !== true) return false;
    send(response, bytes, from, from === 0 ? count : 0);
    return true;
  };
}

function answerOf(id: string, { revision, files, inGit, card }: FakeRepository): HubAnswer {
  return {
    id,
    sha: revision,
    cardData: card,
    siblings: [
      { rfilename: "README.md", size: 120, lfs: null },
      ...Object.entries(files).map(([rfilename, bytes]) => ({
        rfilename,
        size: bytes.length,
        ...(inGit.includes(rfilename)
          ? { blobId: gitSha1(bytes), lfs: null }
          : { lfs: { size: bytes.length, sha256: sha256(bytes) } }),
      })),
    ],
  };
}

function treeOf({ files, inGit }: FakeRepository): object[] {
  return Object.entries(files).map(([path, bytes]) => ({
    type: "file",
    path,
    size: bytes.length,
    oid: gitSha1(bytes),
    ...(inGit.includes(path) ? {} : { lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 134 } }),
  }));
}

function gitSha1(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

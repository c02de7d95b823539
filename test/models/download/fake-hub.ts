import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { within } from "../../waiting.ts";
import { sha256 } from "./fixture.ts";

/** What a repository of the fake hub is at one time. */
export interface FakeRepository {
  /** The commit that `main` is at. */
  revision: string;
  /** Bytes by commit and path. */
  readonly blobs: Map<string, Buffer>;
  /** The files of the commit that `main` is at. */
  files: Record<string, Buffer>;
  /** Paths that are small enough to lie in Git: stated by the name that it has for their bytes. */
  inGit: readonly string[];
  /** What the head of its README says. */
  card: Record<string, unknown>;
  /** Whoever asks without this token is sent away. */
  token: string | null;
  /** Changes what the API answers. */
  lie: (answer: HubAnswer) => unknown;
  /** Whether the API tells without a token what there is, as it does of what is for those alone who accept its terms. */
  isListed: boolean;
  /** Whether the API has its listing by folders, too. */
  hasTree: boolean;
  /** Answers for the API in its stead; true when it has. */
  answerApi: (response: ServerResponse) => boolean;
  /** Answers for a file in its stead; true when it has. */
  serve: (response: ServerResponse, bytes: Buffer, from: number, request: IncomingMessage) => boolean;
}

/** What the API answers about a repository. */
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

/** A server that is laid out like the hub, and misbehaves where it is told to. */
export interface FakeHub {
  /** For `HF_ENDPOINT`. */
  readonly endpoint: string;
  /** Paths that were asked for, with the start of the range where there was one. */
  readonly asked: string[];
  /** The token that came with each request, or `null`. */
  readonly tokens: (string | null)[];
  repository(name: string, files: Record<string, Buffer>): FakeRepository;
  /** Puts `main` of a repository at another commit. */
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
      // The hub does not say whether a private one is there.
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

/** The first commit of every repository, and another. */
export const COMMIT = "a".repeat(40);
export const LATER_COMMIT = "b".repeat(40);

/** Sends a file from a byte on, all of it or `count` bytes before the connection goes. */
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

/** As `git hash-object` has it. */
function gitSha1(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

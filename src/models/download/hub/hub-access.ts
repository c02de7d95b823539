import { SourceError } from "../pull-error.ts";

/** The model hub, where no mirror is set. */
export const HUB = "https://huggingface.co";

/** Where the hub is, and who asks it. */
export interface HubAccess {
  /** Without a slash at the end. */
  readonly endpoint: string;
  /** What a request has to carry: nothing, or a token. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the hub is by the environment: `HF_ENDPOINT` is a mirror that is laid out like it. */
function hubEndpoint(env: Readonly<Record<string, string | undefined>>): string {
  return (env.HF_ENDPOINT || HUB).replace(/\/+$/, "");
}

/** What the hub is called in a message. */
export function hubHost(env: Readonly<Record<string, string | undefined>>): string {
  return hostOf(hubEndpoint(env));
}

/** The host of an address; all of it where it is none. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/**
 * The hub by the environment, with `HF_TOKEN`, the token of whoever asks.
 *
 * @throws SourceError when the token can be none.
 */
export function hubAccess(env: Readonly<Record<string, string | undefined>>): HubAccess {
  const endpoint = hubEndpoint(env);
  const token = env.HF_TOKEN?.trim() ?? "";
  if (token === "") return { endpoint, headers: {} };
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new SourceError(
      "HF_TOKEN holds characters that no token has: copy it again from the hub, or unset it",
    );
  }
  return { endpoint, headers: { authorization: `Bearer ${token}` } };
}

/** What to do when the hub answers with status 401 or 403; ends a sentence. */
export function tokenRemedy(repository: string, { headers }: HubAccess, status: number): string {
  const page = `${HUB}/${repository}`;
  if (headers.authorization === undefined) {
    return (
      `there is no ${repository}, or not without a token: look at ${page}, accept its terms there if it has ` +
      "some, and set HF_TOKEN to a token of yours that may read it"
    );
  }
  if (status === 401) {
    return `the token in HF_TOKEN is not accepted, or there is no ${repository}: make another token, or look at ${page}`;
  }
  return `the token in HF_TOKEN may not read ${repository}: accept its terms at ${page}, or give the token the right to`;
}

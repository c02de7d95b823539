import Type from "typebox";

/** Host and port; an IPv6 address is in brackets. */
export const HOST_AND_PORT = "^(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]\\s]+):[0-9]{1,5}$";

/** URL of an endpoint. */
export const HTTP_ADDRESS = "^https?://";

/** One day. */
export const MAX_MS = 86_400_000;

export const port = { minimum: 0, maximum: 65_535 };

export const timeout = { minimum: 100, maximum: MAX_MS };

/** 0 means no delay. */
export const delay = { minimum: 0, maximum: MAX_MS };

export const memory = { minimum: 1, maximum: 1_048_576 };

export const count = { minimum: 1, maximum: 10_000 };
/** 0 lets the server choose, or admits none. */
export const countOrZero = { minimum: 0, maximum: 10_000 };

/** Optional text that is not empty. */
export const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

/** Refill rate per minute, or size, of a token bucket. */
export const rate = { minimum: 1, maximum: 1_000_000 };

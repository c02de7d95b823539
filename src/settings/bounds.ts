import Type from "typebox";

/** An address and a port; an IPv6 address stands in brackets. */
export const HOST_AND_PORT = "^(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]\\s]+):[0-9]{1,5}$";

/** The address of an endpoint. */
export const HTTP_ADDRESS = "^https?://";

/** A day. */
export const MAX_MS = 86_400_000;

export const port = { minimum: 0, maximum: 65_535 };

/** How long something may take. */
export const timeout = { minimum: 100, maximum: MAX_MS, unit: "ms" };

/** How long is waited; 0 is not at all. */
export const delay = { minimum: 0, maximum: MAX_MS, unit: "ms" };

export const memory = { minimum: 1, maximum: 1_048_576, unit: "MiB" };

/** 0 where the server finds the number itself. */
export const utterances = { minimum: 0, maximum: 10_000, unit: "utterances" };
export const requests = { minimum: 0, maximum: 10_000, unit: "requests" };
export const turns = { minimum: 1, maximum: 10_000, unit: "turns" };

/** Text that may be left out, and is not empty. */
export const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

/** How many requests a minute a bucket regains, and how many it holds. */
export const rate = { minimum: 1, maximum: 1_000_000 };

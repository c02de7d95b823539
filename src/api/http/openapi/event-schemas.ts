import type { TSchema } from "typebox";
import { type Json, referenceTo } from "./components.ts";

/**
 * A stream of events as OpenAPI 3.1 can put it, which has no word for the items of a stream (3.2 has `itemSchema`).
 * Readers that know server-sent events take `schema` for the schema of one event; those that do not, for that of the
 * whole text. Either finds itself here.
 */
export function eventStream(event: Json): Json {
  const text = {
    type: "string",
    description: "The text of the whole stream, for clients that do not parse events.",
  };
  return { "text/event-stream": { schema: { anyOf: [text, event] } } };
}

/** Events that have names. */
export function namedEvents(title: string, dataByName: Readonly<Record<string, TSchema>>): Json {
  const titles = Object.keys(dataByName).map((name) => [name, `${title}${capitalised(name)}`] as const);
  return {
    title,
    description: "One server-sent event, identified by its name.",
    oneOf: titles.map(([name, own]) => ({
      title: own,
      type: "object",
      required: ["event", "data"],
      properties: { event: { type: "string", const: name }, data: jsonText(dataByName[name]!) },
    })),
    discriminator: {
      propertyName: "event",
      mapping: Object.fromEntries(titles.map(([name, own]) => [name, `${referenceTo(own).$ref}`])),
    },
  };
}

/** Events without names, which their data tells apart by its `type`. */
export function unnamedEvents(title: string, data: readonly TSchema[]): Json {
  return {
    title,
    description: "One server-sent event without a name.",
    type: "object",
    required: ["data"],
    properties: { data: jsonText({ oneOf: data }) },
  };
}

/** The text of an event's `data`: JSON of that schema. */
function jsonText(schema: TSchema | Json): Json {
  return { type: "string", contentMediaType: "application/json", contentSchema: schema };
}

function capitalised(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

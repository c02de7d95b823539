/** Names that are told, at most. */
const MAX_TOLD = 8;
const MAX_NAME_CHARS = 64;

/** Fields of a request that nothing reads, by their paths: what was mistyped, and what another endpoint takes. */
export class UnreadFields {
  readonly #paths = new Set<string>();
  #more = 0;

  /** @param parent the path of what it is a member of; empty for the body */
  add(parent: string, name: string): void {
    if (this.#paths.size >= MAX_TOLD) {
      this.#more += 1;
      return;
    }
    this.#paths.add(memberPath(parent, shown(name)));
  }

  /** Adds the members that a schema does not have, of the body and of all that the schema looks into. */
  addBy(schema: object, value: unknown, path = ""): void {
    const { properties, items } = schema as { properties?: Record<string, object>; items?: object };
    if (Array.isArray(value)) {
      if (items === undefined) return;
      for (const [at, item] of value.entries()) this.addBy(items, item, itemPath(path, at));
    } else if (properties !== undefined && value !== null && typeof value === "object") {
      for (const [name, member] of Object.entries(value)) {
        const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (known === undefined) this.add(path, name);
        else this.addBy(known, member, memberPath(path, name));
      }
    }
  }

  /** The path of the first; `null` where all are read. */
  get first(): string | null {
    const [first = null] = this.#paths;
    return first;
  }

  /** As the header `X-Antiphon-Ignored` has them: printable ASCII, at most 700 characters; `null` where all are read. */
  told(): string | null {
    if (this.#paths.size === 0) return null;
    const more = this.#more === 0 ? [] : [`${this.#more} more`];
    return [...this.#paths, ...more].join(", ");
  }
}

export function memberPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

export function itemPath(parent: string, at: number): string {
  return `${parent}[${at}]`;
}

/** A name with nothing in it that a header cannot have, or that would look like another name. */
function shown(name: string): string {
  return name.slice(0, MAX_NAME_CHARS).replaceAll(/[^\w-]/g, "?") || "?";
}

import type { Json, JsonObject } from "@loopwright/core";

/** What a vendor that caches the beginnings of requests read of one session, in characters. */
export interface CacheReport {
  readonly read: number;
  readonly cached: number;
}

/** Below this many characters no vendor caches: 1,024 tokens. */
const cachedMin = 4_096;
/** How many blocks before a marker the vendor looks for an earlier one. */
const lookBack = 20;

/** A vendor that caches up to each marker, and finds a cached beginning at a marker or up to 20 blocks before it. */
export class MarkerCache {
  readonly #kept = new Set<string>();
  #read = 0;
  #cached = 0;

  take(body: JsonObject): void {
    const { prefixes, marks } = prefixesOf(body);
    const found = marks.flatMap((mark) => {
      for (let at = mark; at >= Math.max(0, mark - lookBack); at--)
        if (this.#kept.has(prefixes[at] as string)) return [lengthOf(prefixes[at])];
      return [];
    });
    this.#read += lengthOf(prefixes.at(-1));
    this.#cached += Math.max(0, ...found);
    for (const mark of marks) if (lengthOf(prefixes[mark]) >= cachedMin) this.#kept.add(prefixes[mark] as string);
  }

  get report(): CacheReport {
    return { read: this.#read, cached: this.#cached };
  }
}

/** A vendor that caches every request by itself, and reads the longest beginning that it had in the request before. */
export class PrefixCache {
  #last = "";
  #read = 0;
  #cached = 0;

  take(body: JsonObject): void {
    // In the order in which vendors read: what stands in front of the messages first.
    const { messages, contents, input, ...beside } = body;
    const text = JSON.stringify([beside, messages ?? contents ?? input ?? null]);
    let same = 0;
    while (same < text.length && text[same] === this.#last[same]) same++;
    this.#read += text.length;
    this.#cached += same >= cachedMin ? same : 0;
    this.#last = text;
  }

  get report(): CacheReport {
    return { read: this.#read, cached: this.#cached };
  }
}

/** `<digest>:<length>` of the request up to each block, in the vendor's order: tools, system, messages; and which blocks are marked. */
function prefixesOf(body: JsonObject): { readonly prefixes: readonly string[]; readonly marks: readonly number[] } {
  const blocks: Json[] = [...list(body["tools"]), ...list(body["system"])];
  for (const message of list(body["messages"]) as readonly JsonObject[])
    for (const block of list(message["content"])) blocks.push({ role: message["role"] ?? null, block });
  const marks: number[] = [];
  const prefixes: string[] = [];
  let [digest, length] = [0, 0];
  blocks.forEach((block, at) => {
    const text = JSON.stringify(block, (name, value) => (name === "cache_control" ? undefined : value));
    if (JSON.stringify(block).includes('"cache_control":{')) marks.push(at);
    for (let place = 0; place < text.length; place++) digest = (Math.imul(digest, 31) + text.charCodeAt(place)) >>> 0;
    length += text.length;
    prefixes.push(`${digest}:${length}`);
  });
  return { prefixes, marks };
}

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

const lengthOf = (prefix: string | undefined): number => Number(prefix?.split(":")[1] ?? 0);

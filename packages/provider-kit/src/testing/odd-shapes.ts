import { isAgentError, type Json, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";

/** A whole answer in a vendor's JSON, and what of it a decoder reads. */
export interface OddShapes {
  /** A provider over this transport. */
  readonly make: (transport: typeof fetch) => ModelProvider;
  readonly contentType: string;
  /** The events of a good answer, with every member in it that the decoder knows. */
  readonly events: readonly Json[];
  /** How an event is sent. Default: as a server-sent event. */
  readonly frame?: (event: string) => string;
  /** Names of members that the decoder reads: of another type than here, they are MODEL_PROTOCOL. */
  readonly read: readonly string[];
  /** False: one unstreamed call. Default true. */
  readonly stream?: boolean;
}

export interface OddShapesReport {
  readonly tried: number;
  /** Sentences; empty when every odd shape was refused, or was of no matter. */
  readonly flaws: readonly string[];
}

const odd: readonly Json[] = [{ odd: 1 }, ["odd"], 7.5, "odd", true];

/**
 * Plays the answer once for each member of each event and each wrong JSON type of that member. A wrong member that the decoder reads must fail with
 * MODEL_PROTOCOL. Any other wrong member may be ignored or refused, but must not cause INTERNAL or chunks of other types.
 */
export async function tryOddShapes(options: OddShapes): Promise<OddShapesReport> {
  const { events, read } = options;
  const flaws: string[] = [];
  const whole = await outcomeOf(events, options);
  if (whole !== "an answer") flaws.push(`The good answer ended with ${whole}.`);
  let tried = 0;
  for (const [place, event] of events.entries()) {
    for (const path of pathsIn(event)) {
      for (const value of odd) {
        const before = typeOf(at(event, path));
        // A null does not show the type of its member.
        if (before === "null" || before === typeOf(value)) continue;
        tried++;
        const changed = events.with(place, put(event, path, value));
        const outcome = await outcomeOf(changed, options);
        const isRead = read.includes(String(path.at(-1)));
        if (isRead ? outcome !== "MODEL_PROTOCOL" : outcome === "INTERNAL" || outcome.startsWith("a chunk"))
          flaws.push(`Event ${place}, ${path.join(".")} as ${JSON.stringify(value)}: ${outcome}.`);
      }
    }
  }
  return { tried, flaws };
}

async function outcomeOf(events: readonly Json[], { make, contentType, frame = sse, stream = true }: OddShapes): Promise<string> {
  const body = events.map((event) => frame(JSON.stringify(event))).join("");
  const provider = make(async () => new Response(body, { headers: { "content-type": contentType } }));
  const request = { model: provider.defaultModel, messages: [{ role: "user", content: "Say something." }], stream } as const;
  try {
    for await (const batch of provider.stream(request, { signal: new AbortController().signal, attempt: 1 })) {
      const flaw = batch.find((chunk) => !isSound(chunk));
      if (flaw) return `a chunk that is ${JSON.stringify(flaw)}`;
    }
    return "an answer";
  } catch (error) {
    return isAgentError(error) ? error.code : "INTERNAL";
  }
}

const sse = (event: string): string => `data: ${event}\n\n`;

function isSound(chunk: ModelChunk): boolean {
  if ("index" in chunk && !Number.isSafeInteger(chunk.index)) return false;
  if (JSON.stringify(chunk).includes("[object Object]")) return false;
  return !("delta" in chunk) || typeof chunk.delta === "string";
}

type Path = readonly (string | number)[];

/** The paths of all values, leaves and branches; the whole is none. */
function pathsIn(value: Json, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [];
  const members: readonly (readonly [string | number, Json])[] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.flatMap(([key, member]) => [[...path, key], ...pathsIn(member, [...path, key])]);
}

function at(value: Json, path: Path): Json {
  return path.reduce<Json>((inner, key) => (inner as { readonly [key: string]: Json })[key] as Json, value);
}

function put(value: Json, [key, ...rest]: Path, given: Json): Json {
  if (key === undefined) return given;
  if (Array.isArray(value)) return value.with(Number(key), put(value[Number(key)], rest, given));
  const record = value as { readonly [key: string]: Json };
  return { ...record, [key]: put(record[key] as Json, rest, given) };
}

function typeOf(value: Json): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

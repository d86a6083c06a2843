import { type Json, jsonDepthMax } from "../message/json.ts";
import { wellFormed } from "../message/well-formed-text.ts";
import { headOf } from "./cut-text.ts";
import { toolLimits } from "./tool-limits.ts";

const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

class Flaw extends Error {}

/**
 * A copy of the value as JSON, made as `JSON.stringify` would (`toJSON` is called, `undefined` members are left out), with lone surrogates replaced; or the
 * first `flaw`, as words with its path. What `JSON.stringify` silently loses (functions, maps, numbers that are not finite) is a flaw here. `name`: what
 * paths begin with. A text of more than `textMax` characters is cut there first. Never throws, whatever getters and proxies do.
 */
export function toJson(
  value: unknown,
  { name = "", textMax = Number.POSITIVE_INFINITY }: { readonly name?: string; readonly textMax?: number } = {},
): { readonly value: Json; readonly flaw?: never } | { readonly flaw: string } {
  const state = { nodes: 0, textMax };
  try {
    return { value: copy(value, name, { depth: 0, state }) };
  } catch (error) {
    if (error instanceof Flaw) return { flaw: error.message };
    return { flaw: "a value that throws when it is read" };
  }
}

interface Place {
  readonly depth: number;
  readonly state: { nodes: number; readonly textMax: number };
}

function copy(value: unknown, path: string, place: Place): Json {
  if (++place.state.nodes > toolLimits.jsonNodesMax) throw new Flaw(`more than ${toolLimits.jsonNodesMax} values`);
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return wellFormed(headOf(value, place.state.textMax));
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw flawAt(`the number ${value}`, path);
  }
  if (typeof value !== "object") throw flawAt(`a ${typeof value}`, path);
  if (place.depth >= jsonDepthMax) throw new Flaw(`a value nested deeper than ${jsonDepthMax} levels, or one that holds itself`);
  const below = { depth: place.depth + 1, state: place.state };
  if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON(""), path, below);
  if (Array.isArray(value)) return copyArray(value, path, below);
  const kind = kindWithoutJson(value);
  if (kind) throw flawAt(`a ${kind}`, path);
  const object: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) throw flawAt(`the forbidden key "${key}"`, path);
    const member: unknown = value[key as keyof typeof value];
    if (member !== undefined) object[wellFormed(key)] = copy(member, path === "" ? key : `${path}.${key}`, below);
  }
  return object;
}

function copyArray(array: readonly unknown[], path: string, below: Place): Json {
  const items: Json[] = [];
  for (let at = 0; at < array.length; at++) items.push(copy(array[at] ?? null, `${path}[${at}]`, below));
  return items;
}

/** The names of built-in objects whose content `JSON.stringify` would lose. */
function kindWithoutJson(value: object): string | undefined {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (ArrayBuffer.isView(value) || tag.endsWith("ArrayBuffer")) return tag;
  return /^(Map|Set|WeakMap|WeakSet|Promise|RegExp|Error|Boolean|Number|String|AsyncGenerator|Generator)$/.test(tag) ? tag : undefined;
}

function flawAt(what: string, path: string): Flaw {
  return new Flaw(path === "" ? what : `${what} at \`${path.slice(0, 200)}\``);
}

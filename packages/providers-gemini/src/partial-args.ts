import { jsonDepthMax } from "@loopwright/core";
import { flagIn, textIn, unexpectedShape } from "@loopwright/provider-kit";

/** A piece of streamed arguments. @see https://ai.google.dev/api/caching#FunctionCall partialArgs (2026-11-21) */
export interface WirePartialArg {
  readonly jsonPath?: string;
  readonly stringValue?: string;
  readonly numberValue?: number;
  readonly boolValue?: boolean;
  readonly nullValue?: unknown;
  /** The string at this path continues in a later piece. */
  readonly willContinue?: boolean;
}

/** Arguments that come as values at paths. */
export interface PartialArgs {
  take(pieces: readonly WirePartialArg[]): void;
  /** The JSON text so far. */
  text(): string;
}

type Node = { [key: string]: Node } | Node[] | string | number | boolean | null | Pieces;

/** A string that grows: joined once, not at each piece. */
class Pieces {
  readonly list: string[] = [];
  toJSON(): string {
    return this.list.join("");
  }
}

export function createPartialArgs(): PartialArgs {
  // Without a prototype, so that `__proto__` is a key like any other and the check of the arguments sees it.
  const root: { [key: string]: Node } = Object.create(null);
  return {
    take(pieces) {
      for (const piece of pieces) set(root, piece);
    },
    text: () => JSON.stringify(root),
  };
}

function set(root: { [key: string]: Node }, piece: WirePartialArg): void {
  const path = pathOf(textIn(piece.jsonPath, "a path") ?? "$");
  let at: { [key: string]: Node } | Node[] = root;
  for (const [depth, key] of path.entries()) {
    if (depth === path.length - 1) {
      write(at, key, valueFrom(piece, read(at, key)));
      return;
    }
    let next = read(at, key);
    if (!isContainer(next)) {
      next = typeof path[depth + 1] === "number" ? [] : (Object.create(null) as { [key: string]: Node });
      write(at, key, next);
    }
    at = next;
  }
}

function valueFrom(piece: WirePartialArg, present: Node | undefined): Node {
  const text = textIn(piece.stringValue, "an argument");
  if (text !== undefined) {
    const pieces = present instanceof Pieces ? present : new Pieces();
    pieces.list.push(text);
    return pieces;
  }
  const number: unknown = piece.numberValue ?? undefined;
  if (number !== undefined && typeof number !== "number") throw unexpectedShape("an argument");
  return number ?? flagIn(piece.boolValue, "an argument") ?? null;
}

function read(container: { [key: string]: Node } | Node[], key: string | number): Node | undefined {
  return Array.isArray(container) ? container[Number(key)] : container[key];
}

function write(container: { [key: string]: Node } | Node[], key: string | number, value: Node): void {
  // A list only grows by one: a huge index would make a huge list.
  if (Array.isArray(container)) container[Math.min(Number(key), container.length)] = value;
  else container[key] = value;
}

function isContainer(value: Node | undefined): value is { [key: string]: Node } | Node[] {
  return typeof value === "object" && value !== null && !(value instanceof Pieces);
}

/** `$.a.b[0]['c d']` as its keys. Deeper than any value may be is cut where the check for depth still sees it. */
function pathOf(path: string): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(/\.?([^.[\]$'"]+)|\[(\d+)\]|\[['"]([^\]]*)['"]\]/g)) {
    if (keys.length > jsonDepthMax) break;
    keys.push(index === undefined ? (name ?? quoted ?? "") : Number(index));
  }
  return keys;
}

import type { JsonObject } from "@loopwright/core";
import type { ToolSpec } from "@loopwright/core/ports";
import { keepText } from "./conversation.ts";

interface ToolList {
  readonly specs: readonly ToolSpec[];
  readonly items: readonly JsonObject[];
}

/**
 * What the tools of a request become, made once for as long as the same tools are shown, whatever session shows them: most requests of an agent
 * show what the one before did, and their schemas are a large part of a short request.
 */
export function createToolLists(itemOf: (spec: ToolSpec) => JsonObject): (specs: readonly ToolSpec[]) => readonly JsonObject[] {
  const lists = new WeakMap<ToolSpec, ToolList>();
  return (specs) => {
    const [first] = specs;
    if (first === undefined) return [];
    const known = lists.get(first);
    if (known && isSame(known.specs, specs)) return known.items;
    const items = specs.map(itemOf);
    keepText(items);
    lists.set(first, { specs: [...specs], items });
    return items;
  };
}

function isSame(one: readonly ToolSpec[], other: readonly ToolSpec[]): boolean {
  return one.length === other.length && one.every((spec, at) => spec === other[at]);
}

import type { ModelRequest, SystemPart, ToolSpec } from "@loopwright/core/ports";
import { headOf } from "./cut-message.ts";
import { unitsOfText } from "./sizes.ts";

type Beside = Pick<ModelRequest, "system" | "tools">;

/** Descriptions are not cut below this many characters. */
const descriptionMin = 200;

/** In units. */
export interface BesideRoom {
  readonly system: number;
  readonly tools: number;
}

/** System prompt and tools so that they keep within their budgets; the same objects as long as they do. */
export function cutBeside({ system, tools }: Beside, room: BesideRoom): Beside {
  return {
    ...(system ? { system: cutSystem(system, room.system) } : {}),
    ...(tools ? { tools: cutTools(tools, room.tools) } : {}),
  };
}

function cutSystem(parts: readonly SystemPart[], room: number): readonly SystemPart[] {
  const own = parts.filter(({ cache }) => cache === "session");
  const lengths = shortened(
    own.map(({ text }) => unitsOfText(text)),
    room,
  );
  if (!lengths) return parts;
  return parts.map((part) => {
    const units = lengths[own.indexOf(part)];
    return units === undefined ? part : { ...part, text: cutTo(part.text, units) };
  });
}

/** Tools as they are cut, by the tool and how much of its description is kept, so that providers may cache by identity. */
const cutSpecs = new WeakMap<ToolSpec, Map<number, ToolSpec>>();

function cutTools(tools: readonly ToolSpec[], room: number): readonly ToolSpec[] {
  const schemas = tools.reduce((sum, { name, parameters }) => sum + unitsOfText(name) + schemaUnits(parameters), 0);
  const lengths = shortened(
    tools.map(({ description }) => unitsOfText(description)),
    room - schemas,
  );
  if (!lengths) return tools;
  return tools.map((tool, at) => cutSpec(tool, Math.max(descriptionMin, lengths[at] as number)));
}

const schemas = new WeakMap<object, number>();

function schemaUnits(schema: object): number {
  const units = schemas.get(schema) ?? unitsOfText(JSON.stringify(schema));
  schemas.set(schema, units);
  return units;
}

function cutSpec(tool: ToolSpec, units: number): ToolSpec {
  const description = cutTo(tool.description, units);
  if (description === tool.description) return tool;
  const known = cutSpecs.get(tool) ?? new Map<number, ToolSpec>();
  cutSpecs.set(tool, known);
  const cut = known.get(units) ?? { ...tool, description };
  known.set(units, cut);
  return cut;
}

const note = " [cut]";

function cutTo(text: string, units: number): string {
  const all = unitsOfText(text);
  return all <= units ? text : `${headOf(text, Math.max(1, Math.floor((text.length * units) / all) - note.length))}${note}`;
}

/** The lengths after the longest are cut to one height, so that their sum is at most the room; `undefined`: they fit. */
function shortened(lengths: readonly number[], room: number): readonly number[] | undefined {
  if (lengths.reduce((sum, length) => sum + length, 0) <= room) return undefined;
  const ascending = [...lengths].sort((a, b) => a - b);
  let left = Math.max(0, room);
  for (const [at, length] of ascending.entries()) {
    const height = Math.floor(left / (ascending.length - at));
    if (length > height) return lengths.map((one) => Math.min(one, height));
    left -= length;
  }
  return undefined;
}

import type { JsonSchema } from "@loopwright/core";
import { type SkillToolSpec, skillLimits } from "./skill.ts";

const heading = /^##\s+Tool:\s*(.*?)\s*$/i;
const types: Readonly<Record<string, JsonSchema>> = {
  string: { type: "string" },
  text: { type: "string" },
  number: { type: "number" },
  integer: { type: "integer" },
  int: { type: "integer" },
  boolean: { type: "boolean" },
  bool: { type: "boolean" },
  array: { type: "array" },
  list: { type: "array" },
  object: { type: "object" },
};

/** The tools that headings `## Tool: <name>` declare, with their table of inputs. @throws Error with what is wrong, in words */
export function toolsOfHeadings(body: string): readonly SkillToolSpec[] {
  const tools: SkillToolSpec[] = [];
  let name: string | undefined;
  let lines: string[] = [];
  let isCode = false;
  const end = (): void => {
    if (name !== undefined) tools.push(toolOf(name, lines));
  };
  for (const line of body.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const found = isCode ? null : heading.exec(line);
    if (!found && !(/^##?\s/.test(line) && !isCode)) {
      lines.push(line);
      continue;
    }
    end();
    name = found?.[1];
    lines = [];
  }
  end();
  if (tools.length > skillLimits.toolsMax) throw new Error(`it has more than ${skillLimits.toolsMax} tools`);
  const twice = tools.find((tool, at) => tools.findIndex((other) => other.name === tool.name) !== at);
  if (twice) throw new Error(`it has the tool \`${twice.name}\` twice`);
  return tools;
}

function toolOf(name: string, lines: readonly string[]): SkillToolSpec {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw new Error(`the name of its tool ${JSON.stringify(name.slice(0, 80))} is not 1 to 64 letters, digits, _ and -`);
  const text = lines
    .filter((line) => !isRow(line) && !/^\s*(?:#|\*\*)/.test(line))
    .join("\n")
    .trim();
  const [description = ""] = text.split(/\n\s*\n/);
  if (description === "") throw new Error(`its tool \`${name}\` has no description below its heading`);
  return { name, description: description.replaceAll("\n", " "), parameters: schemaOf(name, inputTable(lines)) };
}

const isRow = (line: string): boolean => /^\s*\|/.test(line);
const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim().replace(/^`|`$/g, ""));

/** The rows of the first table that no line about output stands above. */
function inputTable(lines: readonly string[]): readonly (readonly string[])[] {
  const first = lines.findIndex(isRow);
  const before = lines.slice(0, Math.max(0, first)).findLast((line) => line.trim() !== "") ?? "";
  if (first === -1 || /\boutputs?\b/i.test(before)) return [];
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => !isRow(line));
  return rest.slice(0, end === -1 ? undefined : end).map(cellsOf);
}

function schemaOf(tool: string, [head = [], , ...rows]: readonly (readonly string[])[]): JsonSchema {
  const column = (pattern: RegExp): number => head.findIndex((cell) => pattern.test(cell));
  const [nameAt, typeAt, requiredAt, textAt] = [
    column(/^(?:name|param|input|argument)/i),
    column(/^type/i),
    column(/^required/i),
    column(/^(?:desc|meaning)/i),
  ];
  if (head.length > 0 && nameAt === -1) throw new Error(`the table of inputs of its tool \`${tool}\` has no column \`name\``);
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const row of rows) {
    const name = row[nameAt] ?? "";
    if (!/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name))
      throw new Error(`its tool \`${tool}\` has an input with the name ${JSON.stringify(name.slice(0, 80))}`);
    const type = (row[typeAt] ?? "string").toLowerCase();
    const schema = Object.hasOwn(types, type) ? types[type] : undefined;
    if (!schema)
      throw new Error(
        `the input \`${name}\` of its tool \`${tool}\` has the type ${JSON.stringify(type.slice(0, 40))}, which is none of ${Object.keys(types).join(", ")}`,
      );
    const description = row[textAt];
    properties[name] = description ? { ...schema, description } : schema;
    if (/^(?:yes|true|required|x)$/i.test(row[requiredAt] ?? "")) required.push(name);
  }
  return { type: "object", properties, required, additionalProperties: false };
}

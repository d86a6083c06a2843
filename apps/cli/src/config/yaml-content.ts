import { AgentError } from "@loopwright/core";

const bytesMax = 256 * 1024;

/** Settings by their names. */
export type Content = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Content => typeof value === "object" && value !== null && !Array.isArray(value);

/** A file of YAML, and where a value stands in it. */
export interface YamlContent {
  readonly content: Content;
  lineOf(path: readonly string[]): number | undefined;
}

/** The settings of a text; `name` is that of its file, for people. An empty text has none. @throws AgentError CONFIG_INVALID, without text of the file */
export async function readYaml(text: string, name: string): Promise<YamlContent> {
  const refuse = (message: string, fix: string): never => {
    throw new AgentError("CONFIG_INVALID", { message, fix });
  };
  if (Buffer.byteLength(text) > bytesMax)
    refuse(`\`${name}\` is larger than ${bytesMax / 1024} KiB.`, "Keep the settings alone in it: they are some lines.");
  const { LineCounter, parseDocument, visit } = await import("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [broken] = document.errors;
  // What the parser writes may repeat text of the file; its codes do not.
  if (broken)
    refuse(
      `\`${name}\`, line ${lineCounter.linePos(broken.pos[0]).line}, is no valid YAML (${broken.code}).`,
      "Correct the line: `name: value`, indented by spaces.",
    );
  // An alias could stand for a value that grows without bounds.
  let hasAlias = false;
  visit(document, {
    Alias() {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  if (hasAlias) refuse(`\`${name}\` uses an alias (\`*name\`), and settings take none.`, "Write the value where it is meant.");
  const content: unknown = document.toJS() ?? {};
  if (!isRecord(content)) return refuse(`\`${name}\` holds no settings by their names.`, "Write them as `name: value`, one a line.");
  return {
    content,
    lineOf(path) {
      const node: unknown = document.getIn(path, true);
      const start = typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range) ? node.range[0] : undefined;
      return typeof start === "number" ? lineCounter.linePos(start).line : undefined;
    },
  };
}

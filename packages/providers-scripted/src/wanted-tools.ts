import type { ToolSpec } from "@loopwright/core/ports";
import type { Words } from "./words.ts";

/** Words that mean the same when a tool is looked for. */
const concepts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    time: ["time", "date", "datetime", "clock", "now", "today", "day"],
    maths: ["maths", "math", "calc", "calculate", "calculator", "compute", "arithmetic", "evaluate", "sum", "multiply", "times", "plus"],
    file: ["file", "files"],
    list: ["list", "ls", "directory"],
    read: ["read", "open", "cat"],
    create: ["create", "write", "save", "make"],
    location: ["location", "position", "where"],
    search: ["search", "find", "lookup"],
    weather: ["weather", "forecast", "rain"],
  }).flatMap(([concept, words]) => words.map((word) => [word, concept] as const)),
);

/** Words that do not describe the purpose of a tool. */
const idle: ReadonlySet<string> = new Set([
  "get",
  "current",
  "tool",
  "tools",
  "the",
  "a",
  "an",
  "my",
  "do",
  "run",
  "use",
  "is",
  "it",
  "to",
]);

/** Verbs in the names of tools that change something: such a tool is called only when the message asks to use it. */
const changing: ReadonlySet<string> = new Set([
  "create",
  "edit",
  "update",
  "append",
  "patch",
  "replace",
  "delete",
  "remove",
  "move",
  "rename",
  "copy",
  "send",
  "put",
]);
const namedTools = /\b(use|call|run|try)\b/i;

const showsSeveral = /\b(several|both|parallel|three|two|many)\b.*\btools?\b|\btools at once\b/i;
const showsOne = /\b(use|call|try|show|run)\b.*\btools?\b|^\W*tools?\W*$/i;
const clientSide = /\b(client|browser|caller|user's (side|device|screen))\b/i;
const severalMax = 3;

/** The tools that a message asks for, in the order in which it mentions them. */
export function wantedTools(tools: readonly ToolSpec[], words: Words): readonly ToolSpec[] {
  if (clientSide.test(words.text)) {
    const tool = tools.find(({ name, description }) => clientSide.test(`${name.replaceAll(/[_-]/g, " ")} ${description}`));
    if (tool) return [tool];
  }
  if (showsSeveral.test(words.text)) return harmlessOf(tools).slice(0, severalMax);
  const written = conceptsOf(words);
  const hits = tools.map((tool) => hitOf(tool, words, written)).filter((hit) => hit.score > 0);
  const best = hits.filter((hit, place) => !hits.some((other, at) => beats(other, hit, at < place)));
  if (best.length > 0) return best.sort((a, b) => a.at - b.at).map((hit) => hit.tool);
  return showsOne.test(words.text) ? harmlessOf(tools).slice(0, 1) : [];
}

/** The tools without a changing verb in their names, in their order. */
export function harmlessOf(tools: readonly ToolSpec[]): readonly ToolSpec[] {
  return tools.filter(({ name }) => !isChanging(tokensOf(name)));
}

const isChanging = (tokens: readonly string[]): boolean => tokens.some((token) => changing.has(token));

interface Hit {
  readonly tool: ToolSpec;
  readonly score: number;
  /** Where in the message it is first mentioned. */
  readonly at: number;
  readonly shared: readonly string[];
}

function hitOf(tool: ToolSpec, { text }: Words, written: ReadonlyMap<string, number>): Hit {
  const named = text.toLowerCase().indexOf(tool.name.toLowerCase());
  const tokens = tokensOf(tool.name);
  const isNamed = named >= 0 && tool.name.length > 2;
  if (isChanging(tokens) && !(isNamed && namedTools.test(text.slice(0, named)))) return { tool, score: 0, at: 0, shared: [] };
  // A tool for files matches only when the message mentions a file: `read` alone is too vague.
  const fits = !tokens.includes("file") || written.has("file");
  const shared = fits ? tokens.filter((token) => written.has(token)) : [];
  const places = shared.map((token) => written.get(token) ?? 0);
  if (isNamed) return { tool, score: 100, at: named, shared: tokens };
  return { tool, score: shared.length, at: Math.min(...places), shared };
}

/** One tool for each thing that is asked for: of those that share a word, the one that shares most, else the first. */
function beats(other: Hit, hit: Hit, isEarlier: boolean): boolean {
  if (other === hit || !other.shared.some((token) => hit.shared.includes(token))) return false;
  return other.score > hit.score || (other.score === hit.score && isEarlier && other.score < 100);
}

function conceptsOf(words: Words): ReadonlyMap<string, number> {
  const written = new Map<string, number>();
  const text = words.text.toLowerCase();
  const mention = (token: string, at: number): void => {
    if (!idle.has(token) && !written.has(token)) written.set(token, at);
  };
  let from = 0;
  for (const word of words.words) {
    from = text.indexOf(word, from);
    mention(concepts.get(word) ?? word, from);
    from += word.length;
  }
  if (words.expression) mention("maths", Math.max(0, words.text.search(/\d/)));
  if (words.fileName) mention("file", words.text.indexOf(words.fileName));
  return written;
}

function tokensOf(name: string): readonly string[] {
  const tokens = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((token) => token !== "" && !idle.has(token));
  return [...new Set(tokens.map((token) => concepts.get(token) ?? token))];
}

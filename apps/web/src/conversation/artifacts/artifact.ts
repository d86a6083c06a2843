import type { SessionView, ViewMessage } from "@loopwright/client";
import type { Json } from "@loopwright/core/protocol";

/** One version of code or of a text that an agent made. */
export interface ArtifactVersion {
  readonly id: string;
  /** From 1. */
  readonly version: number;
  readonly title: string;
  readonly kind: "code" | "text";
  readonly language?: string;
  readonly content: string;
}

/** An artifact with all its versions, the first one first. */
export interface Artifact {
  readonly id: string;
  readonly versions: readonly ArtifactVersion[];
}

/** An artifact while it is made. `content` is absent where an earlier version is changed in places. */
export interface WrittenArtifact {
  /** Of the artifact that gets a new version. */
  readonly id?: string;
  readonly title?: string;
  readonly content?: string;
}

/** Name of the tool that makes artifacts. */
export const artifactTool = "craft_tool";

/** The artifact in the details of a result, where there is one. */
export function artifactIn(details: Json | undefined): ArtifactVersion | undefined {
  const artifact = recordOf(recordOf(details)?.["artifact"]);
  const { id, version, title, kind, language, content } = artifact ?? {};
  if (typeof id !== "string" || typeof version !== "number" || typeof content !== "string") return undefined;
  return {
    id,
    version,
    content,
    title: typeof title === "string" ? title : id,
    kind: kind === "code" ? "code" : "text",
    ...(typeof language === "string" ? { language } : {}),
  };
}

const recordOf = (value: Json | undefined): { readonly [name: string]: Json } | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: Json }) : undefined;

/** The artifacts of a conversation, in the order in which they were begun. */
export function artifactsOf(path: readonly Pick<ViewMessage, "message">[]): readonly Artifact[] {
  const all = new Map<string, readonly ArtifactVersion[]>();
  for (const { message } of path) {
    const made = message.role === "tool_result" && message.toolName === artifactTool ? artifactIn(message.details) : undefined;
    if (made) all.set(made.id, [...(all.get(made.id) ?? []), made]);
  }
  return [...all].map(([id, versions]) => ({ id, versions }));
}

/** The artifact that is made now: its text as far as the model has written it. */
export function writtenArtifactOf({ answer, calls }: Pick<SessionView, "answer" | "calls">): WrittenArtifact | undefined {
  const part = answer?.parts.findLast((one) => one.type === "tool_call" && one.toolName === artifactTool);
  if (part?.type === "tool_call") return writtenArtifact(part.argsText);
  for (const { toolName, state, args, written } of calls.values()) {
    if (toolName !== artifactTool || (state !== "running" && state !== "pending")) continue;
    const { id, title, content } = args;
    return {
      ...(typeof id === "string" ? { id } : {}),
      ...(typeof title === "string" ? { title } : {}),
      ...(written !== "" ? { content: written } : typeof content === "string" ? { content } : {}),
    };
  }
  return undefined;
}

/** What arguments that are not yet whole have of an artifact. */
export function writtenArtifact(argsText: string): WrittenArtifact {
  const [id, title, content] = ["id", "title", "content"].map((name) => stringIn(argsText, name));
  return {
    ...(id === undefined ? {} : { id }),
    ...(title === undefined ? {} : { title }),
    ...(content === undefined ? {} : { content }),
  };
}

/** The text of a member of the outermost object, up to where the JSON ends. */
function stringIn(json: string, name: string): string | undefined {
  // Where the text ends within an escape, the last sign is a backslash alone.
  const strings = /"((?:[^"\\]|\\[\s\S])*)\\?("|$)/g;
  let depth = 0;
  let at = 0;
  let isMember = false;
  for (let found = strings.exec(json); found; found = strings.exec(json)) {
    for (const sign of json.slice(at, found.index)) depth += sign === "{" || sign === "[" ? 1 : sign === "}" || sign === "]" ? -1 : 0;
    const isValue = /:\s*$/.test(json.slice(at, found.index));
    at = strings.lastIndex;
    if (isMember && isValue) return unescaped(found[1] ?? "");
    isMember = depth === 1 && !isValue && found[1] === name;
    if (found[2] === "") return undefined;
  }
  return undefined;
}

/** The text of a JSON string whose end may be missing. */
function unescaped(text: string): string {
  const [whole = ""] = /^(?:[^\\]|\\u[\da-fA-F]{4}|\\[^u])*/.exec(text) ?? [];
  try {
    return JSON.parse(`"${whole.replaceAll("\n", "\\n")}"`) as string;
  } catch {
    return whole;
  }
}

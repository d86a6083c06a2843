/*
 * Owns: which parts of a fact hold words of people, models and tools, and which hold words of the runtime alone.
 * Does not own: what becomes of them (redact-session-log).
 */
import type { Fact } from "@loopwright/core";

/** What becomes of the words of a fact. */
export interface WordChange {
  text(text: string): string;
  /** A number that a model, a tool or a person wrote. */
  number(value: number): number;
  /** The id of a session or a schedule. */
  id(id: string): string;
  /** The bytes of an image or a file, in base64. */
  media(data: string): string;
  /** The key of stored bytes, which is a digest of them. */
  blob(key: string): string;
}

/** What the members of an object are. A member without an entry may hold anything, and is changed wherever it has words. */
interface Shape {
  /** Members with words of the runtime: ids that it made, names of tools and models, states. */
  readonly keeps?: ReadonlySet<string>;
  readonly members?: { readonly [name: string]: Shape };
  /** The object has names of its author, and numbers with a meaning of theirs. */
  readonly isFree?: true;
  readonly isMedia?: true;
  /** What each member without an entry is; their names are those of an author. */
  readonly each?: Shape;
  /** What it is if it is a call of a tool. */
  readonly call?: Shape;
}

const free: Shape = { isFree: true };
/** Digests of words that are replaced: they would confirm a guess. */
const digests: ReadonlySet<string> = new Set(["agentDigest", "argsDigest", "requestDigest", "givenDigest", "keyedDigest"]);
/** The digest of the agent has words of its own alone, if the session declares no tools (redact-session-log). */
const keptDigest = "agentDigest";

/** What stands in place of a digest in a redacted log. */
export const redactedDigest = "redacted";

const named = (...names: readonly string[]): ReadonlySet<string> => new Set(names);

const media: Shape = { isMedia: true };
const opaque: Shape = { keeps: named("vendor"), members: { data: free } };
const part: Shape = {
  keeps: named("type", "mediaType", "vendor"),
  members: { value: free, data: free, opaque, source: media },
  call: { keeps: named("type", "callKey", "name", "problem", "notStored"), members: { args: free, opaque } },
};
const message: Shape = {
  keeps: named("role", "stopReason", "stopReasonRaw", "provider", "model", "usage", "cost", "callKey", "toolName", "outcome", "timings"),
  members: { content: part, details: free, progress: { keeps: named("id", "state") } },
};
const userMessage: Shape = { keeps: named("role"), members: { content: part } };
const failure: Shape = { keeps: named("code") };
const verdict: Shape = { keeps: named("hook", "point", "action", "callKey") };
/** A JSON Schema: its keywords stay, and names, descriptions and values are words of its author. */
const schema: Shape = {
  keeps: named("type", "format", "$schema"),
  get members(): { readonly [name: string]: Shape } {
    return schemaMembers;
  },
};
const schemas: Shape = { each: schema };
const all = (names: readonly string[], shape: Shape): { readonly [name: string]: Shape } =>
  Object.fromEntries(names.map((name) => [name, shape]));
const schemaMembers = {
  ...all(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"], schemas),
  ...all(["items", "prefixItems", "contains", "additionalProperties", "propertyNames", "not"], schema),
  ...all(["allOf", "anyOf", "oneOf", "if", "then", "else"], schema),
  ...all(["enum", "const", "default", "examples"], free),
};
const declaredTool: Shape = { keeps: named("name"), members: { parameters: schema } };
const access: Shape = { members: { labels: free } };
const options: Shape = { keeps: named("model", "reasoningEffort"), members: { output: { keeps: named("name"), members: { schema } } } };
const input: Shape = { keeps: named("mode"), members: { message: userMessage, access, options, labels: free, verdicts: verdict } };
const origin: Shape = { keeps: named("type", "runId", "callKey", "channel"), members: { data: free } };

const fact: Shape = {
  keeps: named(
    ...[
      "type",
      "runId",
      "inputId",
      "callKey",
      "callKeys",
      "calls",
      "messageId",
      "from",
      "to",
      "path",
      "parent",
      "pinned",
      "agent",
      "provider",
    ],
    ...["model", "status", "outcome", "mode", "stopReason", "replay", "route", "force", "which", "limits", "chain", "next"],
    ...["reservation", "expected", "expenses", "usage", "cost", "timings", "keyId", "keyOwner", "timeZone", "missed"],
    ...["kind", "retention", keptDigest],
  ),
  members: {
    message,
    decision: { keeps: named("action", "tool") },
    verdicts: verdict,
    hookState: free,
    failure,
    output: part,
    details: free,
    args: free,
    options,
    access,
    labels: free,
    origin,
    metadata: free,
    policy: free,
    data: free,
    sharing: free,
    input,
    progress: { keeps: named("id", "state") },
    remember: { keeps: named("toolName"), members: { pattern: free } },
    waits: { keeps: named("agent", "callKey", "toolName"), members: { args: free } },
    child: { keeps: named("callKey") },
    background: { members: { input: userMessage } },
  },
};

/** Facts whose members of the same name are something else. */
const otherMembers: { readonly [type: string]: Shape["members"] } = {
  "session.opened": { context: message, tools: declaredTool, parent: { keeps: named("runId", "callKey") } },
  "input.accepted": { message: userMessage },
};
/** Properties of the agent, which the replay compares. */
const otherKeeps: { readonly [type: string]: readonly string[] } = {
  "run.started": ["tools", "context"],
  "model.started": ["tools"],
};

/** The fact with its words changed. */
export function withWords(given: Fact, change: WordChange): Fact {
  const { type } = given;
  const isOpening = type === "session.opened";
  const keeps = new Set([...(fact.keeps ?? []), ...(otherKeeps[type] ?? [])]);
  // There `parent` is a link to another session, not a message.
  if (isOpening) keeps.delete("parent");
  return changed(given, { keeps, members: { ...fact.members, ...otherMembers[type] } }, change) as Fact;
}

function changed(value: unknown, given: Shape, change: WordChange): unknown {
  const shape = given.call && isCall(value) ? given.call : given;
  if (typeof value === "string") return change.text(value);
  if (typeof value === "number") return shape.isFree ? change.number(value) : value;
  if (Array.isArray(value)) return value.map((each: unknown) => changed(each, given, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      shape.isFree || shape.each ? change.text(name) : name,
      changedMember(name, member, { shape, change }),
    ]),
  );
}

function changedMember(name: string, member: unknown, { shape, change }: { readonly shape: Shape; readonly change: WordChange }): unknown {
  if (shape.keeps?.has(name)) return member;
  if (typeof member === "string" && !shape.isFree) {
    if (digests.has(name)) return redactedDigest;
    if (name === "session" || name === "schedule") return change.id(member);
    if (name === "blob" && shape.isMedia) return change.blob(member);
    if (name === "data" && shape.isMedia) return change.media(member);
  }
  return changed(member, shape.isFree ? shape : (shape.members?.[name] ?? shape.each ?? {}), change);
}

const isCall = (value: unknown): boolean => typeof value === "object" && value !== null && "type" in value && value.type === "tool_call";

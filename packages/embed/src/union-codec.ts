import { AgentError } from "@loopwright/core";
import type { AgentEvent } from "@loopwright/core/protocol";
import type { DialectReader, StreamDialect } from "@loopwright/server";

/** An event as the JSON of a discriminated union with one record: `{ "Case": "TextDelta", "Fields": [{ "index": 0, "delta": "Hi" }] }`. */
export interface UnionEvent {
  /** The event's type in PascalCase. */
  readonly Case: string;
  /** One record: the other fields of the event, under their own names. */
  readonly Fields: readonly [{ readonly [field: string]: unknown }];
}

/** The event in the union's form. */
export function encodeUnion({ type, ...fields }: AgentEvent): UnionEvent {
  return { Case: pascalCase(type), Fields: [fields] };
}

/**
 * The event of a union's form; of a type that this version does not know too, which readers skip.
 * @throws AgentError INPUT_INVALID for anything but a case with one record
 */
export function decodeUnion(value: unknown): AgentEvent {
  if (!isUnionEvent(value))
    throw new AgentError("INPUT_INVALID", {
      message: "The value is no event in the form of a union.",
      fix: 'Use `{ "Case": "...", "Fields": [{ ... }] }`, with the fields of one event.',
    });
  return { ...value.Fields[0], type: snakeCase(value.Case) } as AgentEvent;
}

/** Every event of every session in the union's form: `GET /api/notifications?dialect=union`. Product notifications have the case `Notification`. */
export const unionDialect: StreamDialect = { name: "union", open: (): DialectReader => unionReader };

/** It keeps no state. */
const unionReader: DialectReader = {
  events: (sessionId, events) =>
    events.map((event) => {
      const { Case, Fields } = encodeUnion(event);
      const data = { Case, Fields: [{ sessionId, ...Fields[0] }] };
      return "seq" in event ? { event: Case, data } : { event: Case, data, isSpare: true };
    }),
  notification: (notification) => [{ event: "Notification", data: { Case: "Notification", Fields: [notification] } }],
};

const pascalCase = (type: string): string => type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter, at: number) => `${at === 0 ? "" : "_"}${letter.toLowerCase()}`);

function isUnionEvent(value: unknown): value is UnionEvent {
  if (typeof value !== "object" || value === null || !("Case" in value) || !("Fields" in value)) return false;
  const { Case, Fields } = value;
  if (typeof Case !== "string" || !/^[A-Z][A-Za-z0-9]*$/.test(Case)) return false;
  return Array.isArray(Fields) && Fields.length === 1 && typeof Fields[0] === "object" && Fields[0] !== null && !Array.isArray(Fields[0]);
}

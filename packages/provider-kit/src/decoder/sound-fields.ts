import { unexpectedShape } from "./sound-chunks.ts";

/*
 * Fields of a vendor's JSON, read for what they are and not for what they should be. Absent and null are `undefined`. `what` names the field in the
 * error, for example "a text".
 */

/** A text. @throws AgentError MODEL_PROTOCOL for anything else. */
export function textIn(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw unexpectedShape(what);
}

/** A whole number from 0. @throws AgentError MODEL_PROTOCOL for anything else. */
export function indexIn(value: unknown, what: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw unexpectedShape(what);
}

/** True or false. @throws AgentError MODEL_PROTOCOL for anything else. */
export function flagIn(value: unknown, what: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return value;
  throw unexpectedShape(what);
}

/** An object that is no list. @throws AgentError MODEL_PROTOCOL for anything else. */
export function recordIn<Shape extends object>(value: Shape | null | undefined, what: string): Shape | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw unexpectedShape(what);
}

const none: readonly never[] = [];

/** A list of objects; empty where there is none. @throws AgentError MODEL_PROTOCOL for anything else. */
export function listIn<Item extends object>(value: readonly Item[] | null | undefined, what: string): readonly Item[] {
  if (value === undefined || value === null) return none;
  if (Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null && !Array.isArray(item))) return value;
  throw unexpectedShape(what);
}

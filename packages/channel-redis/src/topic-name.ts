import { isId } from "@loopwright/core/ports";

/** An id as part of a name in Redis. Anything but a legal id is spelled so that it can neither end its part of the name nor be another's. */
export function idPart(id: string): string {
  if (isId(id)) return id;
  return `~${Array.from(new TextEncoder().encode(id), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The id of such a part. */
export function idOfPart(part: string): string {
  if (!part.startsWith("~")) return part;
  const bytes = part.slice(1).match(/../g) ?? [];
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)));
}

/** The topic of a scope: all events of the scope, and nothing else. */
export const topicName = (prefix: string, scope: string): string => `${prefix}:events:${idPart(scope)}`;

/** The key of one half of the ring of a lane. */
export function ringKey(
  prefix: string,
  place: { readonly scope: string; readonly session: string; readonly lane: number },
): (half: 0 | 1) => string {
  const name = `${prefix}:lane:{${idPart(place.scope)}.${idPart(place.session)}}:${place.lane}`;
  return (half) => `${name}:${half}`;
}

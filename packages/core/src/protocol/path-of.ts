import { byCallOrder } from "../loop/transcript.ts";
import type { MessageId } from "../message/message.ts";
import type { SnapshotMessage } from "./snapshot.ts";

type Placed = Pick<SnapshotMessage, "id" | "parent" | "message">;

/** Messages of a session, by id or as a list, and the id of the last message of the path. */
export interface Branches<One extends Placed> {
  readonly messages: ReadonlyMap<MessageId, One> | readonly One[];
  readonly head: MessageId | null;
}

/** The path from the root to the head, oldest first, parallel results in the order of their calls. Reads each message once. */
export function pathOf<One extends Placed>({ messages, head }: Branches<One>): One[] {
  const byId = Array.isArray(messages) ? new Map(messages.map((one: One) => [one.id, one])) : (messages as ReadonlyMap<MessageId, One>);
  const path: One[] = [];
  // At most as many steps as messages, so that a cycle in a damaged snapshot ends.
  for (let one = byId.get(head ?? ""); one && path.length < byId.size; one = byId.get(one.parent ?? "")) path.push(one);
  return byCallOrder(path.reverse(), ({ message }) => message);
}

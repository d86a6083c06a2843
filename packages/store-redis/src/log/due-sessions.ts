import type { DueOptions, DueSession, SessionRef } from "@loopwright/core/ports";
import type { Connection } from "../connection/connection.ts";
import { isFull } from "../connection/redis-fault.ts";
import { listOf, numberOf, textOf } from "../connection/reply.ts";
import { answerOf, run } from "../connection/script.ts";
import type { StoreKeys } from "../keys.ts";
import { dueScript, lapseScript } from "./log-scripts.ts";

/** Sessions that are looked at in one step of Redis. */
const stepMax = 200;

/** A session among the dates. A space comes before every sign of an id: members stand by scope, then by session. */
export function memberOf({ scope, session }: SessionRef): string {
  return `${scope} ${session}`;
}

export interface DueParts {
  readonly connection: Connection;
  readonly keys: StoreKeys;
  readonly now: () => string;
}

/** Puts sessions whose lease has ended back among those with a date. A Redis without memory for that lists the others meanwhile. */
async function lapse({ connection, keys, now }: DueParts): Promise<void> {
  const input = { keys: [keys.due, keys.held], args: [now(), String(stepMax), keys.sessions] };
  for (let looked = stepMax; looked >= stepMax; ) {
    const outcome = await run(connection, lapseScript, input);
    if (outcome.type === "refused" && isFull(outcome.refusal)) return;
    looked = numberOf(connection.answerOf(outcome));
  }
}

/** The sessions whose date has come and that no running lease holds, in steps that hold Redis up for no longer than a moment. */
export async function dueSessions(parts: DueParts, options: DueOptions): Promise<readonly DueSession[]> {
  const { connection, keys, now } = parts;
  await lapse(parts);
  const { limit = 100, after } = options;
  const found: DueSession[] = [];
  const place = after ? [String(after.due), memberOf(after.ref)] : ["", ""];
  for (let start = -1; found.length < limit; ) {
    const args = [String(options.now), now(), ...place, String(start), String(stepMax), keys.sessions];
    const [looked, next, ...rest] = listOf(await answerOf(connection, dueScript, { keys: [keys.due], args }));
    for (let at = 0; at < rest.length; at += 2) {
      const session = dueSessionOf(textOf(rest[at]) ?? "", numberOf(rest[at + 1]));
      if (session && (!after || isAfter(session, after))) found.push(session);
    }
    if (numberOf(looked) < stepMax) break;
    start = numberOf(next);
  }
  return found.slice(0, limit);
}

function dueSessionOf(member: string, due: number): DueSession | undefined {
  const [scope, session] = member.split(" ");
  return scope && session ? { ref: { scope, session }, due } : undefined;
}

/** The session paged on from may have another date by now: then its former rank is found by date, and sessions of the same date are compared here. */
function isAfter(one: DueSession, other: DueSession): boolean {
  return one.due > other.due || (one.due === other.due && memberOf(one.ref) > memberOf(other.ref));
}

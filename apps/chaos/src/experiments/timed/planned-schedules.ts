import { type Job, textOfJob } from "../../world/job.ts";
import { post } from "../../world/people/post.ts";
import { startWatcher } from "../../world/people/watcher.ts";
import { home } from "../../world/tenants.ts";
import type { World } from "../../world/world.ts";
import type { Place } from "../crowd/crowd.ts";

/** A session without a person: only its schedules send messages. */
export async function openPlace(
  world: World,
  id: string,
  { schedulesPerSession }: { readonly schedulesPerSession: number },
): Promise<Place> {
  const pick = (): string => world.pick(Math.random);
  await post({ pick, path: "/api/sessions", body: { id }, key: `open-${id}` });
  const receive = (piece: string): void => world.hunt.receive(`what the watcher of ${id} is notified`, piece);
  const watcher = startWatcher({ sessionId: id, pick, random: Math.random, words: [], profile: { cutAfterBytes: 20_000 }, receive });
  const done = async (): Promise<void> => {};
  // Each session and schedule is set and cleared by requests that are remembered.
  const keyed = 1 + 2 * schedulesPerSession;
  return { id, tenant: home, watchers: [watcher], person: { acknowledged: [], surprises: [], keyed, fallSilent: done, leave: done } };
}

/** A schedule to set, and the body of the request that sets it. */
export interface Plan {
  readonly session: string;
  readonly name: string;
  readonly body: object;
}

export interface Planning {
  readonly firstMs: number;
  readonly everyMs: number;
  readonly schedulesPerSession: number;
  readonly hasCron?: boolean;
}

/** The first schedule of a session fires once, the second one each minute where `hasCron`, all others at the interval. */
export function planOf(session: string, index: number, { firstMs, everyMs, schedulesPerSession, hasCron }: Planning): Plan {
  const name = `p${index}`;
  const job: Job = {
    id: `${session}${name}`,
    turns: [
      { words: 3, gapMs: 1, calls: [{ tool: index % 2 === 0 ? "pay" : "book", ms: 10 }] },
      { words: 3, gapMs: 0 },
    ],
  };
  const at = firstMs + Math.round((index * everyMs) / schedulesPerSession);
  const isCron = hasCron === true && index === 1;
  const dates = index === 0 ? { at } : isCron ? { cron: "* * * * *", timeZone: "Europe/Berlin" } : { at, everyMs };
  return { session, name, body: { input: textOfJob(job), ...dates } };
}

const pathOf = ({ session, name }: Plan): string => `/api/sessions/${session}/schedules/${name}`;

/** @throws Error when no node sets it */
export async function setSchedule(world: World, plan: Plan): Promise<void> {
  const pick = (): string => world.pick(Math.random);
  const answer = await post({ pick, path: pathOf(plan), method: "PUT", body: plan.body, key: `set-${plan.session}-${plan.name}` });
  if (answer?.status !== 200)
    throw new Error(`${pathOf(plan)} was not set: ${answer?.status} ${JSON.stringify(answer?.body).slice(0, 300)}`);
}

/** @throws Error when no node removes it */
export async function clearSchedule(world: World, plan: Plan): Promise<void> {
  const pick = (): string => world.pick(Math.random);
  const answer = await post({ pick, path: pathOf(plan), method: "DELETE", body: {}, key: `clear-${plan.session}-${plan.name}` });
  if (answer?.status !== 200)
    throw new Error(`${pathOf(plan)} was not removed: ${answer?.status} ${JSON.stringify(answer?.body).slice(0, 300)}`);
}

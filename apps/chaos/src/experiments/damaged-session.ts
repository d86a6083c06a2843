/* D4: all nodes die, and all that the store holds of one session becomes unreadable. After a restart the other sessions complete, and are listed and found. */
import { checkOthers, type Sight } from "../check/check-others.ts";
import type { GroundPlan } from "../world/ground.ts";
import type { Job } from "../world/job.ts";
import type { NodeFlaw } from "../world/node-settings.ts";
import { ruinSession } from "../world/ruin-session.ts";
import type { World } from "../world/world.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { sayJob } from "./say-job.ts";
import { until } from "./until.ts";

export interface DamageOptions {
  readonly ground: GroundPlan;
  readonly nodes: number;
  readonly sessions: number;
  readonly flaw?: NodeFlaw;
  /** The longest wait until all sessions have begun, and then until the others have completed. Default 60,000. */
  readonly restMs?: number;
}

const [damaged, word] = ["d0", "Please"];
const jobOf = (id: string): Job => ({
  id,
  turns: [
    { words: 150, gapMs: 10, calls: [{ tool: "book", ms: 1 }] },
    { words: 2, gapMs: 0 },
  ],
});

export function damagedSession({ ground, nodes, sessions, flaw, restMs = 60_000 }: DamageOptions): Experiment {
  const plan = { name: `damaged-session-${ground.name}`, ground, nodes, leaseMs: 1_000, sweepMs: 500, flaw };
  return inWorld(plan, async ({ world, say }) => {
    const ids = Array.from({ length: sessions + 1 }, (_, index) => `d${index}`);
    const others = ids.filter((id) => id !== damaged);
    const pick = (): string => world.pick(Math.random);
    await Promise.all(ids.map((id) => sayJob(pick, id, jobOf(id))));
    const areBegun = async (): Promise<boolean> =>
      (await listed(pick())).filter(({ status }) => status === "running").length === ids.length;
    if (!(await until(areBegun, restMs))) throw new Error("Not all were begun.");
    const dying = [...world.nodes];
    for (const node of dying) node?.signal("SIGKILL");
    await Promise.all(dying.map((node) => node?.ended));
    await ruinSession(world, { scope: "local", session: damaged });
    await Promise.all(dying.map((_, index) => world.start(index)));
    say("one session is damaged, and all nodes were started anew");
    // Only lists are read: reading a session loads it, and the worker has to find it without that.
    const areOver = async (): Promise<boolean> => completedOf(await listed(pick())).length >= others.length;
    await until(areOver, restMs);
    const sights = await Promise.all(world.nodes.map((_, index) => look(world, index)));
    return {
      failures: sights.flatMap((sight) => checkOthers(sight, { damaged, others })),
      figures: [
        { name: "sessions beside the damaged one", value: others.length, bound: { least: sessions } },
        {
          name: "of them completed, as all nodes show it",
          value: Math.min(...sights.map(({ completed }) => completed.length)),
          bound: { exactly: sessions },
        },
      ],
    };
  });
}

type Answer = { readonly [field: string]: unknown };

async function ask(url: string): Promise<{ readonly status: number; readonly body: Answer }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  return { status: response.status, body: (await response.json()) as Answer };
}

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly lastRun?: { readonly status: string };
}

async function listed(base: string): Promise<readonly Listed[]> {
  const { sessions = [] } = (await ask(`${base}/api/sessions?limit=200`)).body as { readonly sessions?: readonly Listed[] };
  return sessions;
}

const completedOf = (sessions: readonly Listed[]): readonly string[] =>
  sessions.filter(({ id, lastRun }) => id !== damaged && lastRun?.status === "completed").map(({ id }) => id);

/** What one node shows of all. */
async function look(world: World, index: number): Promise<Sight> {
  const base = `http://127.0.0.1:${world.nodes[index]?.port}`;
  const sessions = await listed(base);
  const search = (await ask(`${base}/api/sessions?limit=200&search=${word}`)).body as {
    readonly hits?: readonly { readonly session: Listed }[];
  };
  const damagedAnswer = await ask(`${base}/api/sessions/${damaged}`);
  return {
    node: `node${index}`,
    completed: completedOf(sessions),
    listed: sessions.map(({ id }) => id),
    found: (search.hits ?? []).map(({ session }) => session.id),
    damagedCode: String(damagedAnswer.body["code"]),
  };
}

/* A model sends calls on to another server, with every redirecting status. The other server gets no request, and the run ends with the reason. */
import type { Fact } from "@loopwright/core";
import { sqliteGround } from "../world/ground.ts";
import type { Job } from "../world/job.ts";
import type { NodeFlaw } from "../world/node-settings.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { sayJob } from "./say-job.ts";
import { until } from "./until.ts";

const statuses = [301, 302, 303, 307, 308] as const;
const patienceMs = 20_000;

export interface RedirectOptions {
  readonly count: number;
  readonly flaw?: NodeFlaw;
}

export function redirects({ count, flaw }: RedirectOptions): Experiment {
  const plan = { name: "redirects", ground: sqliteGround, nodes: 1, leaseMs: 3_000, flaw };
  return inWorld(plan, async ({ world }) => {
    const pick = (): string => world.pick(Math.random);
    const failures: string[] = [];
    const ids = Array.from({ length: count }, (_, index) => `m${index}`);
    const jobOf = (id: string, index: number): Job => {
      const redirect = statuses[index % statuses.length];
      return { id, turns: [{ words: 3, gapMs: 0 }], ...(redirect === undefined ? {} : { redirect }) };
    };
    await Promise.all(ids.map((id, index) => sayJob(pick, id, jobOf(id, index))));
    const store = await world.openStore();
    try {
      const factsOf = (session: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session });
      for (const id of ids) {
        const hasEnded = await until(async () => (await factsOf(id)).some(({ type }) => type === "run.finished"), patienceMs);
        const end = (await factsOf(id)).findLast((fact) => fact.type === "run.finished");
        if (!hasEnded || end?.status !== "failed" || end.failure?.code !== "MODEL_REDIRECTED")
          failures.push(`I12: the run of ${id} was sent on and ended as ${end?.status} ${end?.failure?.code}`);
      }
    } finally {
      await store.close();
    }
    const { redirected, stolen } = await world.model();
    return {
      failures,
      figures: [
        { name: "calls that were sent on to another server", value: redirected, bound: { least: count } },
        { name: "requests that came there", value: stolen, bound: { exactly: 0 } },
      ],
    };
  });
}

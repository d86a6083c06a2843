import { runProcess } from "./process-runner.ts";

/** CPU of whole processes, in milliseconds, one entry a round. */
export interface StartUp {
  readonly sdk: readonly number[];
  readonly loopwright: readonly number[];
  readonly node: readonly number[];
}

const scripts = {
  sdk: "start/import-sdk.mjs",
  loopwright: "start/construct-agent.mjs",
  node: "start/construct-agent-over-node.mjs",
} as const;
const perRound = 3;

/** From the start of a process to the SDK imported, and to an agent constructed. */
export async function measureStartUp(rounds: number): Promise<StartUp> {
  const times: Record<keyof typeof scripts, number[]> = { sdk: [], loopwright: [], node: [] };
  for (let round = 0; round < rounds * perRound; round++) {
    for (const name of ["sdk", "loopwright", "node"] as const) {
      const { user, system } = await runProcess<NodeJS.CpuUsage>(scripts[name]);
      times[name].push((user + system) / 1000);
    }
  }
  return times;
}

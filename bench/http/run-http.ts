import type { Measurement } from "../measurement.ts";
import { runProcess } from "../process-runner.ts";
import type { ProfileSummary } from "../profile-summary.ts";
import type { HttpScene } from "./http-scenes.ts";
import type { HttpMeasurement } from "./measure-http.ts";

/** Figures of every round, by server and name: those of all rounds in one list. */
export type HttpResults = Readonly<Record<string, HttpMeasurement["figures"]>>;

/** What a crowd is compared with: the same runs in process. */
export const inProcess = "in process";

async function onceInProcess(overNode: boolean, modelServer: string): Promise<HttpMeasurement> {
  const contender = overNode ? "loopwright-node" : "loopwright";
  const { cpuUs, peakMb } = await runProcess<Measurement>("measure-contender.ts", [contender, "concurrent", modelServer]);
  return { figures: { cpuUs: [cpuUs], peakMb: [peakMb] } };
}

const once = (scene: HttpScene, server: string, modelServer: string, more: readonly string[] = []): Promise<HttpMeasurement> =>
  runProcess<HttpMeasurement>("http/measure-http.ts", [server, scene.id, modelServer, ...more]);

/** Every server once a round, the rounds after one another, each beginning with another server. */
export async function measureHttp(scene: HttpScene, rounds: number, modelServer: string): Promise<HttpResults> {
  const names = scene.kind === "crowd" ? [inProcess, ...scene.servers] : scene.servers;
  const results: Record<string, Record<string, readonly number[]>> = {};
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const isLocal = scene.kind === "crowd" && name === inProcess;
      const { figures } = await (isLocal ? onceInProcess(scene.overNode, modelServer) : once(scene, name, modelServer));
      const known = results[name] ?? {};
      for (const [figure, values] of Object.entries(figures)) known[figure] = [...(known[figure] ?? []), ...values];
      results[name] = known;
    }
  }
  return results;
}

/** Where the time of Loopwright's server goes. */
export async function profileHttp(scene: HttpScene, modelServer: string): Promise<ProfileSummary | undefined> {
  return (await once(scene, "loopwright", modelServer, ["--profile"])).profile;
}

import { Session } from "node:inspector/promises";
import { type ProfileSummary, summariseProfile } from "./profile-summary.ts";

export interface Profiler {
  start(): Promise<void>;
  /** What the main thread did since `start`; `undefined` when profiling is off. */
  stop(): Promise<ProfileSummary | undefined>;
}

const intervalUs = 200;

/** A CPU profiler of this process, around the measured part only; one that does nothing where it is not asked for. */
export async function createProfiler(isOn: boolean): Promise<Profiler> {
  if (!isOn) return { async start() {}, stop: async () => undefined };
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: intervalUs });
  return {
    async start() {
      await session.post("Profiler.start");
    },
    async stop() {
      const { profile } = await session.post("Profiler.stop");
      session.disconnect();
      return summariseProfile(profile);
    },
  };
}

/* The load of one scene on one server, in a process of its own: `measure-http.ts <server> <scene> <model server> [--profile]`. Prints JSON. */
import type { ProfileSummary } from "../profile-summary.ts";
import { measureCrowd } from "./crowd.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureFirstToken } from "./first-token.ts";
import { type HttpScene, httpScenes } from "./http-scenes.ts";
import { measureIdle } from "./idle.ts";
import { type Around, type MeasuredServer, startMeasuredServer } from "./measured-server.ts";
import type { ServeSettings } from "./served.ts";

/** What one load measured: figures by name, every one a list of what was seen. */
export interface HttpMeasurement {
  readonly figures: Readonly<Record<string, readonly number[]>>;
  readonly profile?: ProfileSummary;
}

const [name, sceneId, modelServer = "", ...more] = process.argv.slice(2);
const scene = httpScenes.find(({ id }) => id === sceneId);
if (!scene || name === undefined) throw new Error("Usage: measure-http.ts <server> <scene> <model server> [--profile]");

function settingsOf(wanted: HttpScene): ServeSettings {
  if (!("scenario" in wanted)) return {};
  return { modelUrl: `${modelServer}${wanted.scenario}/v1`, overNode: wanted.kind === "crowd" && wanted.overNode };
}

function figuresOf(wanted: HttpScene, server: MeasuredServer, around: Around): Promise<HttpMeasurement["figures"]> {
  switch (wanted.kind) {
    case "fan-out":
      return measureFanOut(wanted, server, around);
    case "idle":
      return measureIdle(wanted, server);
    case "crowd":
      return measureCrowd(wanted, server, around);
    case "first-token":
      return measureFirstToken(wanted, server, `${modelServer}${wanted.scenario}/v1`);
  }
}

const isProfiled = more.includes("--profile");
const server = await startMeasuredServer(name, settingsOf(scene));
let profile: ProfileSummary | undefined;
const figures = await figuresOf(scene, server, async (part) => {
  if (isProfiled) await server.startProfile();
  const before = await server.cpuUs();
  await part();
  const spent = (await server.cpuUs()) - before;
  if (isProfiled) profile = await server.stopProfile();
  return spent;
});
const measurement: HttpMeasurement = { figures, ...(profile ? { profile } : {}) };
process.stdout.write(JSON.stringify(measurement), () => process.exit(0));

import { installedSize } from "./installed-size.ts";
import { median } from "./median.ts";
import type { Row } from "./row.ts";
import type { StartUp } from "./start-up.ts";

const startGoals = { loopwright: 0.3, node: 0.35 };
const sizeGoalMb = 1;
const packagesGoal = 3;

export const startId = "young-start";

/** From the start of a process to an agent, beside importing the SDK. */
export function startRow({ sdk, loopwright, node }: StartUp): Row {
  return {
    id: startId,
    title: "CPU, process start to agent constructed",
    basis: `${median(sdk).toFixed(0)} ms to import it`,
    loopwright: { value: median(loopwright) / median(sdk), goal: startGoals.loopwright },
    node: { value: median(node) / median(sdk), goal: startGoals.node },
  };
}

/** What is installed beside the vendor's SDK. @throws Error when it is more packages than promised. */
export function sizeRow(): Row {
  const { packages, bytes } = installedSize(["@loopwright/core", "@loopwright/providers-openai"], ["openai"]);
  if (packages.length > packagesGoal) throw new Error(`Beside the SDK are installed: ${packages.join(", ")}.`);
  return {
    id: "size",
    title: `installed beside the SDK: ${packages.length} packages`,
    basis: "",
    format: "MB",
    loopwright: { value: bytes / 1e6, goal: sizeGoalMb },
  };
}

export const httpSizesId = "http-size";

/** What is installed for a server, beside what its framework takes alone. */
export function httpSizeRows(): readonly Row[] {
  const framework = installedSize(["hono", "@hono/node-server"]);
  const server = installedSize(["@loopwright/core", "@loopwright/server"]);
  const client = installedSize(["@loopwright/core", "@loopwright/client"]);
  return [
    {
      id: `${httpSizesId}-server`,
      title: `installed for a server with core: ${server.packages.length} packages`,
      basis: `${(framework.bytes / 1e6).toFixed(2)} MB, Hono with its node adapter`,
      format: "MB",
      loopwright: { value: server.bytes / 1e6 },
    },
    {
      id: `${httpSizesId}-client`,
      title: `installed for a client with core: ${client.packages.length} packages`,
      basis: "",
      format: "MB",
      loopwright: { value: client.bytes / 1e6 },
    },
  ];
}

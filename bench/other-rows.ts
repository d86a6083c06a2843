import { installedSize } from "./installed-size.ts";
import { median } from "./median.ts";
import type { Row } from "./row.ts";
import type { StartUp } from "./start-up.ts";

const startGoal = 0.4;
const sizeGoalMb = 1;
const packagesGoal = 3;

/** From the start of a process to an agent, beside importing the SDK. */
export function startRow({ sdk, loopwright }: StartUp): Row {
  return {
    id: "start",
    title: "CPU, process start to agent constructed",
    basis: `${median(sdk).toFixed(0)} ms to import it`,
    loopwright: { value: median(loopwright) / median(sdk), goal: startGoal },
  };
}

/** What is installed beside the vendor's SDK. @throws Error when it is more packages than promised. */
export function sizeRow(): Row {
  const { packages, bytes } = installedSize();
  if (packages.length > packagesGoal) throw new Error(`Beside the SDK are installed: ${packages.join(", ")}.`);
  return {
    id: "size",
    title: `installed beside the SDK: ${packages.length} packages`,
    basis: "",
    format: "MB",
    loopwright: { value: bytes / 1e6, goal: sizeGoalMb },
  };
}

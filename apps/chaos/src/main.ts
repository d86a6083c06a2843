/* The rig: `npm run chaos -- --tier pr|nightly|release --seed N [--only name]`. */
import { parseArgs } from "node:util";
import { runExperiments } from "./run-experiments.ts";
import { experimentsOf, isTier } from "./tiers.ts";

function wishes(): ReturnType<typeof read> {
  try {
    return read();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\nUse --tier, --seed, --only and --write.`);
    process.exit(2);
  }
}

function read() {
  const options = {
    tier: { type: "string", default: "pr" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
  } as const;
  return parseArgs({ options }).values;
}

const values = wishes();
const seed = Number(values.seed);
if (!isTier(values.tier) || !Number.isSafeInteger(seed)) {
  console.error("Use --tier pr, nightly or release, and --seed with a whole number.");
  process.exit(2);
}
const names = values.only?.split(",");
const experiments = experimentsOf(values.tier).filter(({ name }) => !names || names.some((wanted) => name.startsWith(wanted)));
if (experiments.length === 0) {
  console.error(
    `No experiment is called ${values.only}. There are: ${experimentsOf(values.tier)
      .map(({ name }) => name)
      .join(", ")}.`,
  );
  process.exit(2);
}
process.exitCode = (await runExperiments({ experiments, tier: values.tier, seed, write: values.write })) ? 0 : 1;

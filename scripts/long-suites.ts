/** The random suites, each with a variable of its own: which file plays which rounds, and how many in `npm run long-tests`. `npm test` plays the few that stand in the file, where the file is not one of `slowSuites`. */
export const randomSuites: readonly { readonly file: string; readonly rounds: Readonly<Record<string, string>> }[] = [
  { file: "apps/cli/test/filtered-histories.test.ts", rounds: { LOOPWRIGHT_FILTERED_HISTORIES: "60" } },
  { file: "apps/cli/test/long-session.test.ts", rounds: { LOOPWRIGHT_CHAT_TURNS: "500" } },
  { file: "packages/context/test/long-session.test.ts", rounds: { LOOPWRIGHT_CONTEXT_TURNS: "2000" } },
  { file: "packages/context/test/random-histories.test.ts", rounds: { LOOPWRIGHT_HISTORIES: "1000" } },
  { file: "packages/core/test/budgets.test.ts", rounds: { LOOPWRIGHT_BUDGET_SEEDS: "200" } },
  { file: "packages/core/test/stored-snapshots.test.ts", rounds: { LOOPWRIGHT_SNAPSHOT_ROUNDS: "12" } },
  { file: "packages/core/test/many-handles.test.ts", rounds: { LOOPWRIGHT_STORMS: "600" } },
  { file: "packages/server/test/cuts.test.ts", rounds: { LOOPWRIGHT_CUTS: "10000" } },
  { file: "packages/server/test/two-servers.test.ts", rounds: { LOOPWRIGHT_TWO_SERVERS: "40" } },
  { file: "packages/simulator/test/crash-points.test.ts", rounds: { LOOPWRIGHT_CRASH_POINTS: "3" } },
  { file: "packages/simulator/test/schedules.test.ts", rounds: { LOOPWRIGHT_SCHEDULES: "4000" } },
  { file: "packages/simulator/test/trees.test.ts", rounds: { LOOPWRIGHT_TREE_SEEDS: "40" } },
  // The rig plays other seeds in the same CI run, as many as fit in two minutes, and its nightly tier plays thousands.
  { file: "packages/simulator/test/seeds.test.ts", rounds: { LOOPWRIGHT_SEEDS: "240" } },
  { file: "packages/store-blob/test/damage.test.ts", rounds: { LOOPWRIGHT_DAMAGES: "5000" } },
  { file: "packages/store-blob/test/disk-faults.test.ts", rounds: { LOOPWRIGHT_CRASHES: "1000" } },
  { file: "packages/store-blob/test/s3-faults.test.ts", rounds: { LOOPWRIGHT_S3_FAULTS: "30" } },
  { file: "packages/store-blob/test/two-owners.test.ts", rounds: { LOOPWRIGHT_ORDERS: "20000", LOOPWRIGHT_ROUNDS: "2000" } },
  { file: "packages/tools-files/test/race.test.ts", rounds: { LOOPWRIGHT_RACE_ROUNDS: "5000" } },
  // Recorded streams are cut at every event border, not at some of them.
  { file: "packages/providers-anthropic/test/recordings.test.ts", rounds: { LOOPWRIGHT_FAULTS: "borders" } },
  { file: "packages/providers-gemini/test/recordings.test.ts", rounds: { LOOPWRIGHT_FAULTS: "borders" } },
  { file: "packages/providers-ollama/test/recordings.test.ts", rounds: { LOOPWRIGHT_FAULTS: "borders" } },
  { file: "packages/providers-openai/test/faults.test.ts", rounds: { LOOPWRIGHT_FAULTS: "borders" } },
];

/** Files that only `npm run long-tests` runs: recorded traffic, sessions of many megabytes, command lines as processes, killed processes, every crash point, seeds of the simulator, and the longest kits. */
export const slowSuites: readonly string[] = [
  "apps/cli/test/ask.test.ts",
  "apps/cli/test/remote-chat.test.ts",
  "apps/cli/test/run.test.ts",
  "apps/cli/test/sessions.test.ts",
  "packages/core/src/driver/log/spill-values.test.ts",
  "packages/core/test/children-budget.test.ts",
  "packages/core/test/stored-snapshots.test.ts",
  "packages/channel-redis/test/faults.test.ts",
  "packages/provider-kit/test/recorded-suites.test.ts",
  "packages/providers-anthropic/test/recordings.test.ts",
  "packages/providers-gemini/test/recordings.test.ts",
  "packages/providers-ollama/test/recordings.test.ts",
  "packages/providers-openai/test/faults.test.ts",
  "packages/providers-openai/test/recordings.test.ts",
  "packages/queue-bullmq/test/faults.test.ts",
  "packages/server/test/children-process.test.ts",
  "packages/server/test/client-cuts.test.ts",
  "packages/server/test/cuts.test.ts",
  "packages/server/test/slow-readers.test.ts",
  "packages/server/test/two-servers.test.ts",
  "packages/server/test/unread-answers.test.ts",
  "packages/simulator/test/crash-points.test.ts",
  "packages/simulator/test/planted-bugs.test.ts",
  "packages/simulator/test/readme.test.ts",
  "packages/store-blob/test/bounded-pages.test.ts",
  "packages/store-blob/test/kits-files.test.ts",
  "packages/store-redis/test/faults.test.ts",
  "packages/tools-data/test/snippet.test.ts",
  "packages/tools-files/test/killed-writer.test.ts",
  "packages/tools-files/test/race.test.ts",
  "packages/simulator/test/seeds.test.ts",
  "packages/simulator/test/simulate.test.ts",
  "packages/simulator/test/schedules.test.ts",
  "packages/simulator/test/trees.test.ts",
  "packages/store-blob/test/s3-faults.test.ts",
  "packages/store-blob/test/disk-faults.test.ts",
  "packages/store-sqlite/test/processes.test.ts",
  "packages/store-sqlite/test/kits.test.ts",
  "packages/testing/test/loop/loop-properties.test.ts",
  "packages/testing/test/provider/model-provider-kit.test.ts",
  "packages/core/test/many-handles.test.ts",
  "packages/server/test/payloads/h07-idle-streams.test.ts",
];

/** The test files of `npm test` and of `npm run long-tests`. Those of the page in a browser have a run of their own: `npm run browser-tests`. */
export function filesOf(mode: "quick" | "long"): { readonly include: string[]; readonly exclude: string[] } {
  const exclude = ["**/node_modules/**", "**/*.browser.test.ts"];
  const [ofPackages, ofPrograms] = ["{packages,apps}/*/{src,test}/**/*", "{bench,examples,scripts}/**/*"];
  if (mode === "long")
    return {
      include: [
        `${ofPackages}.long.test.ts`,
        `${ofPrograms}.long.test.{ts,mjs}`,
        ...new Set([...randomSuites.map(({ file }) => file), ...slowSuites]),
      ],
      exclude,
    };
  return { include: [`${ofPackages}.test.ts`, `${ofPrograms}.test.{ts,mjs}`], exclude: [...exclude, "**/*.long.test.*", ...slowSuites] };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of the random suites; what the environment states already wins. */
export function roundsOf(mode: "quick" | "long", environment: Environment): Record<string, string> {
  const wanted = mode === "long" ? Object.assign({}, ...randomSuites.map(({ rounds }) => rounds)) : { LOOPWRIGHT_FAULTS: "few" };
  return Object.fromEntries(Object.entries<string>(wanted).filter(([name]) => environment[name] === undefined));
}

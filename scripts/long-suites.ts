/** The random suites, each with a variable of its own: which file plays which rounds, and how many in `npm run long-tests`. `npm test` plays the few that stand in the file, where the file is not one of `slowSuites`. */
export const randomSuites: readonly { readonly file: string; readonly rounds: Readonly<Record<string, string>> }[] = [
  { file: "apps/cli/test/filtered-histories.test.ts", rounds: { LOOPWRIGHT_FILTERED_HISTORIES: "60" } },
  { file: "apps/cli/test/long-session.test.ts", rounds: { LOOPWRIGHT_CHAT_TURNS: "2000" } },
  { file: "apps/cli/test/research-kill.long.test.ts", rounds: { LOOPWRIGHT_RESEARCH_KILLS: "3" } },
  { file: "packages/context/test/long-session.test.ts", rounds: { LOOPWRIGHT_CONTEXT_TURNS: "2000" } },
  { file: "packages/context/test/random-histories.test.ts", rounds: { LOOPWRIGHT_HISTORIES: "10000" } },
  { file: "packages/core/test/budgets.test.ts", rounds: { LOOPWRIGHT_BUDGET_SEEDS: "200" } },
  { file: "packages/core/test/stored-snapshots.test.ts", rounds: { LOOPWRIGHT_SNAPSHOT_ROUNDS: "12" } },
  { file: "packages/core/test/many-handles.test.ts", rounds: { LOOPWRIGHT_STORMS: "600" } },
  { file: "packages/guardrails/test/backtest.test.ts", rounds: { LOOPWRIGHT_BACKTEST_SESSIONS: "1000" } },
  { file: "packages/host/test/fair-backlog.test.ts", rounds: { LOOPWRIGHT_BACKLOG: "10000" } },
  { file: "packages/host/test/retention-kills.test.ts", rounds: { LOOPWRIGHT_RETENTION_KILLS: "120" } },
  { file: "packages/server/test/cuts.test.ts", rounds: { LOOPWRIGHT_CUTS: "10000" } },
  { file: "packages/server/test/two-servers.test.ts", rounds: { LOOPWRIGHT_TWO_SERVERS: "40" } },
  { file: "packages/simulator/test/crash-points.test.ts", rounds: { LOOPWRIGHT_CRASH_POINTS: "3" } },
  { file: "packages/simulator/test/replay.test.ts", rounds: { LOOPWRIGHT_REPLAYS: "200" } },
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

/**
 * Files that only `npm run long-tests` runs, since `npm test` stays under three minutes on two cores: recorded traffic, sessions of many megabytes,
 * command lines as processes, killed processes, every crash point, seeds of the simulator, kits against real stores, and all else that
 * takes longest. `vitest run <file>` runs such a file too when it is named.
 */
export const slowSuites: readonly string[] = [
  "apps/cli/test/agents.test.ts",
  "apps/cli/test/approvals.test.ts",
  "apps/cli/test/ask.test.ts",
  "apps/cli/test/filtered-histories.test.ts",
  "apps/cli/test/remote-chat.test.ts",
  "apps/cli/test/research.test.ts",
  "apps/cli/test/run.test.ts",
  "apps/cli/test/sessions.test.ts",
  "apps/web/test/smoke.test.ts",
  "examples/http/execute.test.ts",
  "examples/jobs/jobs.test.ts",
  "examples/mount/mount.test.ts",
  "packages/channel-redis/test/contract.test.ts",
  "packages/channel-redis/test/faults.test.ts",
  "packages/client/src/view/view.test.ts",
  "packages/client/test/follow.test.ts",
  "packages/context/test/compaction.test.ts",
  "packages/context/test/hostile.test.ts",
  "packages/context/test/taken-over.test.ts",
  "packages/core/src/driver/log/spill-large-values.test.ts",
  "packages/core/test/answer-bounds.test.ts",
  "packages/core/test/children-budget.test.ts",
  "packages/core/test/event-order.test.ts",
  "packages/core/test/filter.test.ts",
  "packages/core/test/many-handles.test.ts",
  "packages/core/test/media.test.ts",
  "packages/core/test/nodes-modes.test.ts",
  "packages/core/test/retry-storms.test.ts",
  "packages/core/test/snapshots.test.ts",
  "packages/core/test/stored-snapshots.test.ts",
  "packages/provider-kit/src/body/sse.test.ts",
  "packages/provider-kit/src/decoder/delta-template.test.ts",
  "packages/provider-kit/src/node/node-http.test.ts",
  "packages/provider-kit/test/global-fetch.test.ts",
  "packages/provider-kit/test/recorded-suites.test.ts",
  "packages/provider-kit/test/trailing-vendor.test.ts",
  "packages/providers-anthropic/test/anthropic.test.ts",
  "packages/providers-anthropic/test/contract.test.ts",
  "packages/providers-anthropic/test/recordings.test.ts",
  "packages/providers-anthropic/test/strict-rules.test.ts",
  "packages/providers-gemini/test/contract.test.ts",
  "packages/providers-gemini/test/recordings.test.ts",
  "packages/providers-gemini/test/strict-rules.test.ts",
  "packages/providers-ollama/test/contract.test.ts",
  "packages/providers-ollama/test/recordings.test.ts",
  "packages/providers-openai/src/openai.test.ts",
  "packages/providers-openai/test/contract.test.ts",
  "packages/providers-openai/test/faults.test.ts",
  "packages/providers-openai/test/recordings.test.ts",
  "packages/providers-openai/test/strict-rules.test.ts",
  "packages/queue-bullmq/test/faults.test.ts",
  "packages/secrets/test/contract.test.ts",
  "packages/server/src/node/listen.test.ts",
  "packages/server/src/node/node-sink.test.ts",
  "packages/server/test/access/access-matrix.test.ts",
  "packages/server/test/answers-over-redis.test.ts",
  "packages/server/test/authorize.test.ts",
  "packages/server/test/children-process.test.ts",
  "packages/server/test/client-cuts.test.ts",
  "packages/server/test/client-tools.test.ts",
  "packages/server/test/cursors.test.ts",
  "packages/server/test/cuts.test.ts",
  "packages/server/test/notifications.test.ts",
  "packages/server/test/payloads/bad-input.test.ts",
  "packages/server/test/payloads/h04-slow-and-odd-connections.test.ts",
  "packages/server/test/payloads/h05-bodies.test.ts",
  "packages/server/test/payloads/h07-idle-streams.test.ts",
  "packages/server/test/rows-process.test.ts",
  "packages/server/test/silent-connections.test.ts",
  "packages/server/test/slow-readers.test.ts",
  "packages/server/test/two-servers.test.ts",
  "packages/server/test/unread-answers.test.ts",
  "packages/simulator/test/crash-points.test.ts",
  "packages/simulator/test/outages.test.ts",
  "packages/simulator/test/planted-bugs.test.ts",
  "packages/simulator/test/readme.test.ts",
  "packages/simulator/test/replay.test.ts",
  "packages/simulator/test/schedules.test.ts",
  "packages/simulator/test/seeds.test.ts",
  "packages/simulator/test/simulate.test.ts",
  "packages/simulator/test/trees.test.ts",
  "packages/store-blob/test/bounded-pages.test.ts",
  "packages/store-blob/test/disk-faults.test.ts",
  "packages/store-blob/test/folder-lease.test.ts",
  "packages/store-blob/test/kits-files.test.ts",
  "packages/store-blob/test/kits-memory.test.ts",
  "packages/store-blob/test/links.test.ts",
  "packages/store-blob/test/processes.test.ts",
  "packages/store-blob/test/ruined-session.test.ts",
  "packages/store-blob/test/s3-faults.test.ts",
  "packages/store-blob/test/s3rver.test.ts",
  "packages/store-blob/test/shared-lists.test.ts",
  "packages/store-redis/test/bounded-pages.test.ts",
  "packages/store-redis/test/faults.test.ts",
  "packages/store-redis/test/kits.test.ts",
  "packages/store-redis/test/ownership.test.ts",
  "packages/store-redis/test/startup.test.ts",
  "packages/store-sqlite/test/bounded-pages.test.ts",
  "packages/store-sqlite/test/damage.test.ts",
  "packages/store-sqlite/test/data-policy.test.ts",
  "packages/store-sqlite/test/erasure.test.ts",
  "packages/store-sqlite/test/failing-disk.test.ts",
  "packages/store-sqlite/test/faults.test.ts",
  "packages/store-sqlite/test/kits.test.ts",
  "packages/store-sqlite/test/migrations.test.ts",
  "packages/store-sqlite/test/processes.test.ts",
  "packages/store-sqlite/test/quarantine.test.ts",
  "packages/store-sqlite/test/space.test.ts",
  "packages/testing/test/execute/execute-kit.test.ts",
  "packages/testing/test/loop/loop-properties.test.ts",
  "packages/testing/test/provider/model-provider-kit.test.ts",
  "packages/testing/test/runtime-kits-proof.test.ts",
  "packages/tools-data/test/data-tools.test.ts",
  "packages/tools-data/test/snippet.test.ts",
  "packages/tools-files/test/killed-writer.test.ts",
  "packages/tools-files/test/race.test.ts",
  "packages/tools-mcp/test/hostile.test.ts",
  "packages/tools-mcp/test/stdio.test.ts",
  "packages/tools-web/test/fetch-page.test.ts",
  "packages/tools-web/test/read-page.test.ts",
  "scripts/ci-total.test.mjs",
  "scripts/docs.test.mjs",
];

/**
 * The test files of `npm test` and of `npm run long-tests`. Those of the page in a browser have a run of their own: `npm run browser-tests`.
 * `named`: files that the command names, which run in either mode.
 */
export function filesOf(mode: "quick" | "long", named: readonly string[] = []): { readonly include: string[]; readonly exclude: string[] } {
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
  const isNamed = (file: string): boolean => named.some((path) => path.endsWith(file));
  const slow = ["**/*.long.test.*", ...slowSuites].filter((file) => !isNamed(file) && !(file.startsWith("**") && named.some(isLong)));
  return { include: [`${ofPackages}.test.ts`, `${ofPrograms}.test.{ts,mjs}`], exclude: [...exclude, ...slow] };
}

const isLong = (path: string): boolean => /\.long\.test\.\w+$/.test(path);

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of the random suites; what the environment states already wins. */
export function roundsOf(mode: "quick" | "long", environment: Environment): Record<string, string> {
  const wanted = mode === "long" ? Object.assign({}, ...randomSuites.map(({ rounds }) => rounds)) : { LOOPWRIGHT_FAULTS: "few" };
  return Object.fromEntries(Object.entries<string>(wanted).filter(([name]) => environment[name] === undefined));
}

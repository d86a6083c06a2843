import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { filesOf, roundsOf } from "./scripts/long-suites.ts";
import { makeTestFolder } from "./scripts/test-folder.ts";

// Tests run on the sources of every package: no build is needed first.
const conditions = ["@loopwright/source", "module", "node", "development|production"];

const report = process.env["LOOPWRIGHT_TEST_REPORT"];

/** The slowest files start first, those of the long tests among them: started last, one of them would keep a single core busy while the other has nothing to do. */
const slowest = [
  "context/test/random-histories.test.ts",
  "chaos/src/experiments/planted-flaws.long.test.ts",
  "simulator/test/crash-points.test.ts",
  "cli/test/research-kill.long.test.ts",
  "simulator/test/seeds.test.ts",
  "store-blob/test/kits-s3.long.test.ts",
  "store-blob/test/s3-faults.test.ts",
  "simulator/test/planted-bugs.long.test.ts",
  "store-blob/test/two-owners.test.ts",
  "cli/test/secrets.long.test.ts",
  "testing/test/store-kits-proof.long.test.ts",
  "cli/test/long-session.test.ts",
  "simulator/test/replay.test.ts",
  "tools-files/test/race.test.ts",
  "providers-openai/test/faults.test.ts",
  "core/test/many-handles.test.ts",
  "simulator/test/trees.test.ts",
  "server/test/two-servers.test.ts",
  "store-sqlite/test/many-sessions.long.test.ts",
  "server/test/cuts.test.ts",
  "server/test/unread-crowds.long.test.ts",
  "simulator/test/schedules.test.ts",
  "cli/test/serve.long.test.ts",
  "providers-ollama/test/recordings.test.ts",
  "examples/tenants/tenants-day.long.test.ts",
  "store-blob/test/disk-faults.test.ts",
  "simulator/test/simulate.test.ts",
  "store-blob/test/kits-files.test.ts",
  "providers-ollama/test/hostile-bodies.long.test.ts",
  "providers-gemini/test/recordings.test.ts",
  "store-sqlite/test/kits.test.ts",
  "providers-anthropic/test/hostile-bodies.long.test.ts",
  "cli/test/run.test.ts",
  "store-sealed/test/kits.long.test.ts",
  "host/test/fair-backlog.test.ts",
  "scripts/new-package.long.test.mjs",
  "cli/test/recordings.long.test.ts",
  "store-blob/test/bounded-pages.test.ts",
  "testing/test/loop/loop-properties.test.ts",
  "server/test/client-cuts.test.ts",
  "cli/test/executors.long.test.ts",
  "cli/test/sessions.test.ts",
  "providers-gemini/test/hostile-bodies.long.test.ts",
  "simulator/test/planted-bugs.test.ts",
  "cli/test/nodes.long.test.ts",
  "cli/test/remote-chat.test.ts",
  "cli/test/scope-commands.long.test.ts",
  "examples/operate.long.test.ts",
  "simulator/test/readme.test.ts",
  "server/test/slow-readers.test.ts",
  "providers-anthropic/test/recordings.test.ts",
  "cli/test/init.long.test.ts",
  "cli/test/ask.test.ts",
  "cli/test/quotas.long.test.ts",
  "cli/test/filtered-histories.test.ts",
  "providers-openai/test/hostile-bodies.long.test.ts",
  "queue-bullmq/test/faults.test.ts",
  "provider-kit/test/stale-connections.long.test.ts",
  "core/test/stored-snapshots.test.ts",
  "guardrails/test/backtest.test.ts",
  "core/src/driver/log/spill-large-values.test.ts",
  "tools-cli/test/payloads.test.ts",
  "cli/test/rows-fallbacks.test.ts",
  "failover/test/storm.test.ts",
  "providers-subprocess/test/subprocess.test.ts",
  "context/test/fenced-summaries.test.ts",
  "tools-web/test/fetched-in-log.test.ts",
  "examples/access/extension-routes.test.ts",
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const found = slowest.findIndex((file) => moduleId.endsWith(file));
      return found < 0 ? slowest.length : found;
    };
    return sorted.sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig(({ mode }) => {
  // `vitest run --mode long`: the tests that take too long for every run, and the random suites with more rounds.
  const suites = mode === "long" ? "long" : "quick";
  const compileCache = process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), `loopwright-compile-cache-${process.getuid?.() ?? ""}`);
  const folder = makeTestFolder();
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      ...filesOf(suites, process.argv.slice(2)),
      env: {
        ...roundsOf(suites, process.env),
        // Each worker and each process strips the types of the sources it loads; with a cache only the first does.
        NODE_COMPILE_CACHE: compileCache,
        ...(folder === undefined ? {} : { TMPDIR: folder }),
      },
      // Two cores: threads start faster than forks and share less memory pressure.
      pool: "threads",
      // A new module graph for each of 350 files costs 0.2 s of CPU each time, more than most files need for their tests. Files of
      // one worker share it, so each must leave the process as it found it: the set-up file checks that.
      isolate: false,
      setupFiles: ["./scripts/check-leftovers.ts"],
      globalSetup: ["./scripts/test-folder.ts"],
      // Many tests wait for a disk, a socket or a process: two for each core keep it busy. Vitest would cap a percentage at one for each core.
      maxWorkers: availableParallelism() * 2,
      sequence: { sequencer: SlowestFirst },
      // No test waits for time; a machine that ten others keep busy may take its own.
      testTimeout: suites === "long" ? 900_000 : 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000, interval: 20 } },
      passWithNoTests: false,
      // `.ci/run` counts the tests from this file.
      reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
    },
  };
});

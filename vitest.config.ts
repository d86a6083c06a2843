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
  "simulator/test/planted-bugs.long.test.ts",
  "simulator/test/seeds.test.ts",
  "simulator/test/crash-points.test.ts",
  "simulator/test/trees.test.ts",
  "store-blob/test/kits-s3.long.test.ts",
  "src/experiments/planted-flaws.long.test.ts",
  "server/test/two-servers.test.ts",
  "store-blob/test/s3-faults.test.ts",
  "server/test/cuts.test.ts",
  "tools-files/test/race.test.ts",
  "testing/test/store-kits-proof.long.test.ts",
  "simulator/test/planted-bugs.test.ts",
  "store-blob/test/disk-faults.test.ts",
  "providers-openai/test/hostile-bodies.long.test.ts",
  "store-sqlite/test/kits.test.ts",
  "cli/test/ask.test.ts",
  "cli/test/run.test.ts",
  "cli/test/sessions.test.ts",
  "simulator/test/simulate.test.ts",
  "testing/test/loop/loop-properties.test.ts",
  "scripts/docs.test.mjs",
  "store-blob/test/folder-lease.test.ts",
  "testing/test/execute/execute-kit.test.ts",
  "web/test/smoke.test.ts",
  "tools-data/test/data-tools.test.ts",
  "provider-kit/test/trailing-vendor.test.ts",
  "channel-redis/test/contract.test.ts",
  "queue-bullmq/test/contract.test.ts",
  "examples/jobs/jobs.test.ts",
  "cli/test/approvals.test.ts",
  "store-redis/test/kits.test.ts",
  "providers-openai/test/contract.test.ts",
  "providers-anthropic/test/contract.test.ts",
  "testing/test/runtime-kits-proof.test.ts",
  "examples/http/execute.test.ts",
  "store-blob/test/kits-memory.test.ts",
  "server/src/node/listen.test.ts",
  "core/test/media.test.ts",
  "host/test/worker-modules.test.ts",
  "providers-gemini/test/contract.test.ts",
  "server/test/silent-connections.test.ts",
  "server/test/path/message-path.test.ts",
  "examples/mount/mount.test.ts",
  "testing/test/loop/simulated-session.test.ts",
  "simulator/test/outages.test.ts",
  "store-sqlite/test/space.test.ts",
  "server/test/notifications.test.ts",
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

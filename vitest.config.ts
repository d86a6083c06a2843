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
  "server/test/two-servers.test.ts",
  "src/experiments/planted-flaws.long.test.ts",
  "simulator/test/crash-points.test.ts",
  "store-blob/test/kits-s3.long.test.ts",
  "tools-files/test/race.test.ts",
  "store-blob/test/s3-faults.test.ts",
  "server/test/cuts.test.ts",
  "testing/test/store-kits-proof.long.test.ts",
  "store-blob/test/disk-faults.test.ts",
  "providers-openai/test/hostile-bodies.long.test.ts",
  "scripts/docs.test.mjs",
  "simulator/test/simulate.test.ts",
  "store-sqlite/test/kits.test.ts",
  "cli/test/run.test.ts",
  "cli/test/ask.test.ts",
  "cli/test/sessions.test.ts",
  "store-blob/test/folder-lease.test.ts",
  "store-redis/test/kits.test.ts",
  "core/test/snapshots.test.ts",
  "channel-redis/test/contract.test.ts",
  "store-sqlite/test/processes.test.ts",
  "testing/test/loop/loop-properties.test.ts",
  "core/test/filter.test.ts",
  "client/src/view/view.test.ts",
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
      ...filesOf(suites),
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

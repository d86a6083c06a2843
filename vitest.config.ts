import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Tests run on the sources of every package: no build is needed first.
const conditions = ["@loopwright/source", "module", "node", "development|production"];

const report = process.env["LOOPWRIGHT_TEST_REPORT"];

/** Takes half a minute by itself: begun last it would keep everybody waiting. */
const longest = "simulator/test/seeds.test.ts";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith(longest);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["{packages,apps}/*/{src,test}/**/*.test.ts", "{bench,examples,scripts}/**/*.test.{ts,mjs}"],
    // The tests of the page in a browser have a run of their own, apart from one: `npm run browser-tests`.
    exclude: ["**/node_modules/**", "**/*.browser.test.ts"],
    // Two cores: threads start faster than forks and share less memory pressure.
    pool: "threads",
    // Many tests wait for a disk, a socket or a process: two for each core keep it busy.
    maxWorkers: "200%",
    sequence: { sequencer: LongestFirst },
    // No test waits for time; a busy machine may take its own.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
    // `.ci/run` counts the tests from this file.
    reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
  },
});

import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The tests of the built page in a real browser: `vite build` first.
const conditions = ["@loopwright/source", "module", "node", "development|production"];

const report = process.env["LOOPWRIGHT_TEST_REPORT"];

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.browser.test.ts"],
    globalSetup: ["test/support/browser-server.ts"],
    pool: "threads",
    // The sources of the server are loaded once for each worker and not for each file; the set-up file fails a file that leaves something behind.
    isolate: false,
    setupFiles: ["../../scripts/check-leftovers.ts"],
    // A page draws in a process of its own: more files at once only make one another wait.
    maxWorkers: 2,
    expect: { poll: { timeout: 10_000, interval: 25 } },
    reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
  },
});

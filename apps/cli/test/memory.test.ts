import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyDirectory, runEach } from "./run-binary.ts";

const memoryLine = /^\{"file":"\d{4}-\d\d-\d\d\.md".*The harbour opens at nine\./m;

test("C53, C55: a fact that one conversation notes is found by another one in files of the working directory, where a memory is asked for", async () => {
  const cwd = await emptyDirectory();
  const ask = (...words: readonly string[]) => ({ words: ["ask", "--offline", "--quiet", ...words] });
  const search = "use memory_search harbour";
  const [none, noted, found, off, taken] = await runEach(
    [
      ask(search),
      ask('use memory_note with "The harbour opens at nine."', "--memory"),
      ask(search),
      ask(search, "--memory=false"),
      ask("--memory", "What do I drink?"),
    ],
    { cwd },
  );
  expect(none?.stdout).not.toContain("memory_search` says");
  expect(noted?.stdout).toContain("Noted.");
  const day = join(cwd, ".loopwright/memory/local/local");
  const [file = ""] = await readdir(day);
  expect(await readFile(join(day, file), "utf8")).toContain("\n> The harbour opens at nine.\n");
  expect(found?.stdout.replace(/^- /gm, "")).toMatch(memoryLine);
  expect(off?.stdout).not.toContain("memory_search` says");
  expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining("Write the question before `--memory`") });
});

test("C05, C72: a model that stopped before the last phase of `workflow` is asked to continue, and phases beside `nudges: false` are refused", async () => {
  const cwd = await emptyDirectory();
  const env = { LOOPWRIGHT_EDIT_TOOLS: "file_create, file_*" };
  const [looked, asked, without, refused] = await runEach(
    [
      { words: ["ask", "--offline", "use calculate 6*7"], env },
      { words: ["ask", "--offline", "hello"], env },
      { words: ["ask", "--offline", "use calculate 6*7", "--nudges"] },
      { words: ["ask", "--offline", "hello"], env: { ...env, LOOPWRIGHT_NUDGES: "false" } },
    ],
    { cwd },
  );
  const nudges = (ended: { readonly stderr: string } | undefined): number =>
    (ended?.stderr.split("workflow-nudges (decide): nudge").length ?? 0) - 1;
  expect([looked, asked, without].map(nudges)).toEqual([2, 0, 0]);
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("Leave out `nudges`, or the phases.") });
});

import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { runTool } from "@loopwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultFilesDirectory, fileTools } from "../src/index.ts";
import { makeScratch } from "./scratch.ts";

const codeOf = (trial: { readonly result: { readonly failure?: { readonly code: string } } }) => trial.result.failure?.code;

describe("file_create", () => {
  it("writes a file that file_read gives back (C52)", async () => {
    const { call, root } = await makeScratch();
    const created = await call("file_create", { path: "notes/plan.md", content: "# Plan\nä€😀\n" });
    expect(created.result).toMatchObject({ outcome: "ok", details: { path: "notes/plan.md", outcome: "created", sizeBytes: 17 } });
    expect(await readFile(join(root, "notes/plan.md"), "utf8")).toBe("# Plan\nä€😀\n");
    expect((await call("file_read", { path: "notes/plan.md" })).text).toBe("# Plan\nä€😀\n");
  });

  it("does not replace another content unless asked to", async () => {
    const { call } = await makeScratch();
    await call("file_create", { path: "a.txt", content: "one" });
    expect(codeOf(await call("file_create", { path: "a.txt", content: "two" }))).toBe("FILE_EXISTS");
    expect((await call("file_read", { path: "a.txt" })).text).toBe("one");
    expect((await call("file_create", { path: "a.txt", content: "two", overwrite: true })).text).toContain("replaced");
    expect((await call("file_read", { path: "a.txt" })).text).toBe("two");
  });

  it("may be done twice with the same content, as its replay class declares", async () => {
    const { call, root } = await makeScratch();
    await call("file_create", { path: "a.txt", content: "one" });
    const before = await stat(join(root, "a.txt"));
    expect((await call("file_create", { path: "a.txt", content: "one" })).result.outcome).toBe("ok");
    expect((await stat(join(root, "a.txt"))).ino).toBe(before.ino);
  });

  it("lets one of many writers of a name win and refuses the others", async () => {
    const { call } = await makeScratch();
    const trials = await Promise.all(
      Array.from({ length: 20 }, (_, at) => call("file_create", { path: "same.txt", content: `writer ${at}` })),
    );
    expect(trials.filter((trial) => trial.result.outcome === "ok")).toHaveLength(1);
    expect(trials.filter((trial) => codeOf(trial) === "FILE_EXISTS")).toHaveLength(19);
  });

  it("leaves no temporary file behind, neither after success nor after refusal", async () => {
    const { call, root } = await makeScratch({ totalBytesMax: 10 });
    await call("file_create", { path: "a.txt", content: "12345" });
    await call("file_create", { path: "b.txt", content: "1234567" });
    await call("file_create", { path: "a.txt", content: "1", overwrite: true });
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("removes what a dead writer left an hour ago, and hides what a living one is writing", async () => {
    const { call, root } = await makeScratch();
    await writeFile(join(root, ".loopwright-dead.tmp"), "half");
    await writeFile(join(root, ".loopwright-live.tmp"), "half");
    await utimes(join(root, ".loopwright-dead.tmp"), 1, 1);
    await call("file_create", { path: "a.txt", content: "x" });
    expect((await readdir(root)).sort()).toEqual([".loopwright-live.tmp", "a.txt"]);
    expect((await call("file_list", {})).result.output).toEqual([
      { type: "json", value: { entries: [{ path: "a.txt", type: "file", sizeBytes: 1 }] } },
    ]);
  });

  it("does nothing once its run is aborted", async () => {
    const { call, root } = await makeScratch();
    const trial = await call("file_create", { path: "a.txt", content: "x" }, { context: { signal: AbortSignal.abort() } });
    expect(trial.result.outcome).toBe("error");
    expect(await readdir(root)).toEqual([]);
  });
});

describe("file_read", () => {
  const lines = Array.from({ length: 4_000 }, (_, at) => `line ${at + 1}`);

  it("streams a long file in at least three deltas that make up the output (D59)", async () => {
    const { call } = await makeScratch();
    await call("file_create", { path: "long.txt", content: lines.join("\n") });
    const { result, deltas } = await call("file_read", { path: "long.txt" });
    expect(deltas.length).toBeGreaterThanOrEqual(3);
    expect(deltas.join("")).toBe(lines.join("\n"));
    expect(result.output).toEqual([{ type: "text", text: lines.join("\n") }]);
    expect(result.details).toMatchObject({ path: "long.txt", firstLine: 1, lines: 4_000, isComplete: true });
  });

  it("gives the lines asked for and where to continue", async () => {
    const { call } = await makeScratch();
    await call("file_create", { path: "long.txt", content: lines.join("\n") });
    const { text } = await call("file_read", { path: "long.txt", offset: 3_000, limit: 2 });
    expect(text).toBe("line 3000\nline 3001\n[more follows: continue with offset 3002]");
    expect((await call("file_read", { path: "long.txt", offset: 3_999, limit: 5 })).text).toBe("line 3999\nline 4000");
    expect((await call("file_read", { path: "long.txt", offset: 5_000 })).text).toBe("[there is no line 5000: the file has 4000 lines]");
  });

  it("reads every line of a long file once by following the offsets", async () => {
    const { call } = await makeScratch({ readCharactersMax: 1_000 });
    const content = `${lines.slice(0, 400).join("\n")}\n`;
    await call("file_create", { path: "long.txt", content });
    let all = "";
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const { text } = await call("file_read", { path: "long.txt", offset });
      const next = /(?:line (\d+) is cut [^\]]*)?more follows: continue with offset (\d+)\]$/.exec(text);
      const body = next ? text.slice(0, text.lastIndexOf("[")) : text;
      all += next?.[1] ? `${body.split("\n").slice(0, -2).join("\n")}\n` : body;
      offset = next ? Number(next[2]) : undefined;
    }
    expect(all).toBe(content);
  });

  it("cuts a line without end, never inside a character, and continues behind it", async () => {
    const { call } = await makeScratch({ readCharactersMax: 11 });
    await call("file_create", { path: "wide.txt", content: `${"😀".repeat(20)}\nnext` });
    const { text } = await call("file_read", { path: "wide.txt" });
    expect(text).toBe(`${"😀".repeat(5)}\n[line 1 is cut after 10 characters of this answer, more follows: continue with offset 2]`);
    expect((await call("file_read", { path: "wide.txt", offset: 2 })).text).toBe("next");
  });

  it("keeps characters whole that lie across its pieces", async () => {
    const { call } = await makeScratch();
    const content = `a${"€".repeat(10_000)}`;
    await call("file_create", { path: "euro.txt", content });
    const { text, deltas } = await call("file_read", { path: "euro.txt" });
    expect(text).toBe(content);
    expect(deltas.every((delta) => !delta.includes("\uFFFD"))).toBe(true);
  });

  it("reports an empty file as empty", async () => {
    const { call } = await makeScratch();
    await call("file_create", { path: "empty.txt", content: "" });
    expect((await call("file_read", { path: "empty.txt" })).text).toBe('["empty.txt" is empty]');
  });

  it("refuses what is no text, before or after it has begun", async () => {
    const { call, root } = await makeScratch();
    await writeFile(join(root, "image.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0]));
    await writeFile(join(root, "latin.txt"), Buffer.from([0x61, 0xe4, 0x62]));
    await writeFile(join(root, "late.bin"), Buffer.concat([Buffer.alloc(20_000, "a"), Buffer.from([0])]));
    await writeFile(join(root, "cut.txt"), Buffer.from("a€").subarray(0, 3));
    for (const path of ["image.png", "latin.txt", "cut.txt"]) {
      const { result, text } = await call("file_read", { path });
      expect(result.outcome).toBe("error");
      expect(text).toContain(`TOOL_FAILED: "${path}" is not text in UTF-8. Only text files can be read.`);
    }
    const late = await call("file_read", { path: "late.bin" });
    expect(late.result.outcome).toBe("error");
    expect(late.deltas.join("")).toBe("a".repeat(16_384));
  });

  it("names what is missing, what is a folder and what is too large", async () => {
    const { call } = await makeScratch({ readableBytesMax: 3 });
    await call("file_create", { path: "a/b.txt", content: "1234" });
    expect(codeOf(await call("file_read", { path: "a/none.txt" }))).toBe("FILE_NOT_FOUND");
    expect(codeOf(await call("file_read", { path: "none/b.txt" }))).toBe("FILE_NOT_FOUND");
    expect(codeOf(await call("file_read", { path: "a" }))).toBe("NOT_REGULAR");
    expect(codeOf(await call("file_read", { path: "a/b.txt/c" }))).toBe("INVALID_PATH");
    expect(codeOf(await call("file_read", { path: "a/b.txt" }))).toBe("FILE_LIMIT");
  });

  it("stops between two pieces when its run is aborted", async () => {
    const { call } = await makeScratch();
    await call("file_create", { path: "long.txt", content: "x".repeat(80_000) });
    const controller = new AbortController();
    const trial = await call(
      "file_read",
      { path: "long.txt" },
      { context: { signal: controller.signal }, onDelta: () => controller.abort() },
    );
    expect(trial.deltas).toHaveLength(1);
    expect(trial.result.outcome).toBe("error");
  });
});

describe("file_list", () => {
  it("shows everything sorted, each folder before its content", async () => {
    const { call } = await makeScratch();
    for (const path of ["b.txt", "a/z.txt", "a/b/c.txt"]) await call("file_create", { path, content: "12" });
    const file = (path: string) => ({ path, type: "file", sizeBytes: 2 });
    const folder = (path: string) => ({ path, type: "folder" });
    const entriesOf = async (args: { folder?: string; recursive?: boolean }) => (await call("file_list", args)).result.output;
    const all = [folder("a"), folder("a/b"), file("a/b/c.txt"), file("a/z.txt"), file("b.txt")];
    expect(await entriesOf({})).toEqual([{ type: "json", value: { entries: all } }]);
    expect(await entriesOf({ recursive: false })).toEqual([{ type: "json", value: { entries: [folder("a"), file("b.txt")] } }]);
    expect(await entriesOf({ folder: "a/b" })).toEqual([{ type: "json", value: { entries: [file("a/b/c.txt")] } }]);
  });

  it("reports it when it shows only the first entries", async () => {
    const { call } = await makeScratch({ listEntriesMax: 2 });
    for (const path of ["a", "b", "c"]) await call("file_create", { path, content: "" });
    const { text } = await call("file_list", {});
    expect(text).toContain('"path":"b"');
    expect(text).not.toContain('"path":"c"');
    expect(text).toContain("Only the first 2");
  });

  it("of a directory that does not exist is empty, and does not make it", async () => {
    const base = await mkdtemp(join(tmpdir(), "loopwright-files-"));
    onTestFinished(() => rm(base, { recursive: true, force: true }));
    const [, read, list] = fileTools({ directory: join(base, "none") });
    if (!read || !list) throw new Error("The list of tools is shorter than it was.");
    expect((await runTool(list, {})).text).toBe('{"entries":[]}');
    expect((await runTool(list, { folder: "a" })).result.failure?.code).toBe("FILE_NOT_FOUND");
    expect((await runTool(read, { path: "a" })).result.failure?.code).toBe("FILE_NOT_FOUND");
    expect(await readdir(base)).toEqual([]);
  });
});

describe("the files directory", () => {
  it("comes from the context when the tools were given none (C54)", async () => {
    const { root } = await makeScratch();
    const [create, read] = fileTools();
    if (!create || !read) throw new Error("The list of tools is shorter than it was.");
    const context = { files: { directory: root } };
    expect((await runTool(create, { path: "a.txt", content: "shared" }, { context })).result.outcome).toBe("ok");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("shared");
    expect((await runTool(read, { path: "a.txt" }, { context })).text).toBe("shared");
  });

  it("must be known and absolute", async () => {
    const [, read] = fileTools();
    if (!read) throw new Error("The list of tools is shorter than it was.");
    expect(codeOf(await runTool(read, { path: "a.txt" }))).toBe("CONFIG_INVALID");
    expect(codeOf(await runTool(read, { path: "a.txt" }, { context: { files: { directory: "files" } } }))).toBe("CONFIG_INVALID");
    const refused = (run: () => unknown): boolean => {
      try {
        run();
      } catch (error) {
        return isAgentError(error, "CONFIG_INVALID");
      }
      return false;
    };
    expect(refused(() => fileTools({ directory: "./files" }))).toBe(true);
    expect(refused(() => fileTools({ limits: { entriesMax: 0 } }))).toBe(true);
    expect(refused(() => fileTools({ limits: { fileBytesMax: Number.NaN } }))).toBe(true);
  });

  it("is by custom in .loopwright/files of the working directory (C53)", () => {
    expect(defaultFilesDirectory("/srv/app")).toBe(join("/srv/app", ".loopwright", "files"));
  });

  it("is never named in an error", async () => {
    const { call, root } = await makeScratch({ fileBytesMax: 1 });
    const attempts = await Promise.all([
      call("file_read", { path: "none" }),
      call("file_read", { path: "../x" }),
      call("file_create", { path: "a", content: "12" }),
      call("file_list", { folder: "none" }),
    ]);
    for (const { result } of attempts) {
      expect(result.outcome).toBe("error");
      expect(JSON.stringify(result)).not.toContain(root);
    }
  });
});

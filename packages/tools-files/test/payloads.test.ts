import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeScratch, type Scratch, secret } from "./scratch.ts";

/** Everything below the folder that holds both the files directory and the secret. */
async function treeOf(scratch: Scratch): Promise<readonly string[]> {
  return (await readdir(dirname(scratch.root), { recursive: true })).sort();
}

/** The codes that creating, reading and listing the path answer. */
async function codesOf(scratch: Scratch, path: string): Promise<readonly (string | undefined)[]> {
  const trials = [
    await scratch.call("file_create", { path, content: "planted", overwrite: true }),
    await scratch.call("file_read", { path }),
    await scratch.call("file_list", { folder: path === "" ? " " : path }),
  ];
  for (const { text } of trials) expect(text).not.toContain(secret);
  return trials.map(({ result }) => result.failure?.code);
}

const refusedThrice = ["INVALID_PATH", "INVALID_PATH", "INVALID_PATH"];

describe.each([
  ["through descriptors", undefined],
  ["by paths, as on platforms without /proc", false],
])("payloads, %s:", (_, descriptors) => {
  const make = (limits = {}) => makeScratch(limits, descriptors);

  it.each(["../../etc/passwd", "/etc/passwd", "a/../../b", "./.", "", ".", "..", "~/.ssh/id_rsa", "a//b", "../files-evil/secret.txt"])(
    "P01 %j is an invalid path and creates nothing",
    async (path) => {
      const scratch = await make();
      const before = await treeOf(scratch);
      expect(await codesOf(scratch, path)).toEqual(refusedThrice);
      expect(await treeOf(scratch)).toEqual(before);
    },
  );

  it.each(["..\\..\\x", "C:\\x", "\\\\host\\share", "con", "aux.txt", "file.txt ", "file.txt.", "a:stream"])(
    "P02 %j is refused on every platform",
    async (path) => {
      const scratch = await make();
      const before = await treeOf(scratch);
      expect(await codesOf(scratch, path)).toEqual(refusedThrice);
      expect(await treeOf(scratch)).toEqual(before);
    },
  );

  it.each(["%2e%2e/x", "..%2f", "..\u2215etc", "%2e%2e%2fsecret.txt"])(
    "P03 %j is a plain name, never decoded a second time",
    async (path) => {
      const scratch = await make();
      expect((await scratch.call("file_create", { path, content: "literal" })).result.outcome).toBe("ok");
      expect(await readFile(join(scratch.root, ...path.split("/")), "utf8")).toBe("literal");
      expect(await readdir(dirname(scratch.root))).toEqual(["files", "files-evil"]);
    },
  );

  it.each(["....//x", "\u2025/x"])("P03 %j is refused", async (path) => {
    const scratch = await make();
    expect(await codesOf(scratch, path)).toEqual(refusedThrice);
  });

  it.each([
    ["a zero byte", "a\0.txt"],
    ["a name of 256 bytes", "n".repeat(256)],
    ["a path of 5,000 characters", "p/".repeat(2_500)],
    ["60 levels", Array(60).fill("d").join("/")],
    ["a control character", "a\u0007b"],
    ["a line feed", "a\nb"],
    ["a right-to-left override", "a\u202Etxt.exe"],
    ["half a surrogate pair", "a\uD83Db"],
    ["what broken UTF-8 decodes to", "a\uFFFDb"],
  ])("P04 %s is refused", async (_name, path) => {
    const scratch = await make();
    const before = await treeOf(scratch);
    expect(await codesOf(scratch, path)).toEqual(refusedThrice);
    expect(await treeOf(scratch)).toEqual(before);
  });

  it("P04 a twin in another Unicode form is found, not made", async () => {
    const scratch = await make();
    const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"];
    await mkdir(join(scratch.root, decomposed));
    await writeFile(join(scratch.root, decomposed, `${decomposed}.txt`), "first");
    for (const name of [composed, decomposed]) {
      const path = `${name}/${name}.txt`;
      expect((await scratch.call("file_create", { path, content: "second" })).result.failure?.code).toBe("FILE_EXISTS");
      expect((await scratch.call("file_read", { path })).text).toBe("first");
    }
    await scratch.call("file_create", { path: `${composed}/${composed}.txt`, content: "second", overwrite: true });
    expect(await readdir(join(scratch.root, decomposed))).toEqual([`${decomposed}.txt`]);
    expect(await readdir(scratch.root)).toHaveLength(1);
  });

  it("P04 a name on disk that is no UTF-8 harms neither listing nor counting", async () => {
    const scratch = await make();
    await writeFile(Buffer.concat([Buffer.from(`${scratch.root}/bad-`), Buffer.from([0xff, 0xfe])]), "x").catch(() => {});
    await scratch.call("file_create", { path: "good.txt", content: "x" });
    expect((await scratch.call("file_list", {})).text).toContain("good.txt");
  });

  it("P05 links to files and folders are refused, not followed, and not written through", async () => {
    const scratch = await make();
    await symlink(join(scratch.outside, "secret.txt"), join(scratch.root, "file-link"));
    await symlink(scratch.outside, join(scratch.root, "folder-link"));
    await symlink("/etc", join(scratch.root, "etc"));
    await symlink("/proc/self", join(scratch.root, "self"));
    await symlink("/dev/zero", join(scratch.root, "zero"));
    await symlink("nowhere", join(scratch.root, "dangling"));
    for (const path of ["file-link", "folder-link/secret.txt", "folder-link/new.txt", "etc/passwd", "self/environ", "zero", "dangling"])
      expect(await codesOf(scratch, path)).toEqual(["NOT_REGULAR", "NOT_REGULAR", "NOT_REGULAR"]);
    expect(await readdir(scratch.outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(scratch.outside, "secret.txt"), "utf8")).toBe(secret);
    const { text } = await scratch.call("file_list", {});
    expect(text).not.toContain("secret.txt");
    expect(text).toContain('{"path":"folder-link","type":"other"}');
  });

  it("P05 a hard link to a secret is neither read nor overwritten", async () => {
    const scratch = await make();
    await link(join(scratch.outside, "secret.txt"), join(scratch.root, "hard.txt"));
    expect((await codesOf(scratch, "hard.txt")).slice(0, 2)).toEqual(["NOT_REGULAR", "NOT_REGULAR"]);
    expect(await readFile(join(scratch.outside, "secret.txt"), "utf8")).toBe(secret);
  });

  it.skipIf(process.platform === "win32")("P05 a FIFO and a socket are refused at once and do not hang", async () => {
    const scratch = await make();
    execFileSync("env", ["mkfifo", join(scratch.root, "fifo")]);
    const server = createServer().listen(join(scratch.root, "socket"));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    for (const path of ["fifo", "socket"]) expect((await codesOf(scratch, path)).slice(0, 2)).toEqual(["NOT_REGULAR", "NOT_REGULAR"]);
  });

  it("P09 many files of one byte reach the limit of entries, folders counted", async () => {
    const scratch = await make({ entriesMax: 20 });
    const codes: (string | undefined)[] = [];
    for (let at = 0; at < 15; at++)
      codes.push((await scratch.call("file_create", { path: `d${at}/f`, content: "x" })).result.failure?.code);
    expect(codes).toEqual([...Array(10).fill(undefined), ...Array(5).fill("FILE_LIMIT")]);
    expect(await readdir(scratch.root, { recursive: true })).toHaveLength(20);
    expect((await scratch.call("file_create", { path: "d0/f", content: "y", overwrite: true })).result.outcome).toBe("ok");
  });

  it("P09 many writers at once do not slip past a limit", async () => {
    const scratch = await make({ entriesMax: 5 });
    const create = (_: unknown, at: number) => scratch.call("file_create", { path: `f${at}`, content: "x" });
    const trials = await Promise.all(Array.from({ length: 30 }, create));
    expect(trials.filter(({ result }) => result.outcome === "ok")).toHaveLength(5);
    expect(await readdir(scratch.root)).toHaveLength(5);
  });

  it("P09 one file and all files together have a limit of bytes", async () => {
    const scratch = await make({ fileBytesMax: 10, totalBytesMax: 25 });
    const code = async (path: string, content: string, overwrite = false) =>
      (await scratch.call("file_create", { path, content, overwrite })).result.failure?.code;
    expect(await code("a", "\u20ac\u20ac\u20ac\u20ac")).toBe("FILE_LIMIT");
    expect(await code("a", "1234567890")).toBeUndefined();
    expect(await code("b", "1234567890")).toBeUndefined();
    expect(await code("deep/c", "123456")).toBe("FILE_LIMIT");
    expect(await code("c", "12345")).toBeUndefined();
    expect(await code("a", "0987654321", true)).toBeUndefined();
    expect(await code("a", "0987654321")).toBeUndefined();
    expect((await readdir(scratch.root)).sort()).toEqual(["a", "b", "c"]);
  });
});

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { type CliProgram, cliExecute, findIsolation, runProgram } from "../src/index.ts";
import { canary, makeScratch, noIsolation, processesWith } from "./scratch.ts";

const isolation = await findIsolation();
const isLinux = process.platform === "linux";
const showArguments = "console.log(JSON.stringify(process.argv.slice(2)));";

/** The code of the error with which a program is refused when the tool is made. */
function refusalOf(program: CliProgram): string | undefined {
  try {
    cliExecute({ programs: [program], directory: "/" });
    return undefined;
  } catch (error) {
    return isAgentError(error) ? error.code : String(error);
  }
}

describe("X01: what a shell would read", () => {
  it.each(["ls; id", "$(id)", "`id`", "a && b", "a | b", "> planted", "a\nb", "*", "~", "$HOME", "'\"\\"])(
    "X01: %j is passed as one literal argument",
    async (argument) => {
      const scratch = await makeScratch();
      const path = await scratch.script("show", showArguments);
      const { result, deltas } = await scratch.run({ path, operands: "text" }, [argument, "second"]);
      expect(result.outcome).toBe("ok");
      expect(JSON.parse(deltas[0] ?? "")).toEqual([argument, "second"]);
      expect(await readdir(scratch.root)).toEqual([]);
    },
  );

  it.runIf(isolation.namespaces)("X01: there is no second process while it runs", async () => {
    const scratch = await makeScratch();
    const path = await scratch.script(
      "show",
      'console.log(require("node:fs").readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length);',
    );
    expect((await scratch.run({ path, operands: "text" }, ["$(sleep 9)"])).deltas.join("")).toMatch(/^1\n/);
  });
});

describe("X02: programs that start others", () => {
  const path = (name: string): string => `/usr/bin/${name}`;
  it.each([
    "npm",
    "npx",
    "node",
    "python3",
    "awk",
    "gawk",
    "env",
    "xargs",
    "find",
    "rsync",
    "ssh",
    "sh",
    "bash",
    "busybox",
    "perl",
    "sudo",
  ])("X02: %s cannot be put on the list with free arguments", (name) => {
    expect(refusalOf({ name, path: path(name), operands: "text" })).toBe("CONFIG_INVALID");
    expect(refusalOf({ name, path: path(name), calls: [["--version"]] })).toBeUndefined();
  });

  it.each([
    ["git", ["--upload-pack=sh -c id", "x"]],
    ["git", ["-c", "core.pager=id", "log"]],
    ["git", ["log", "--upload-pac=id"]],
    ["tar", ["--checkpoint-action=exec=id", "x"]],
    ["curl", ["-o/etc/x", "file:///etc/passwd"]],
    ["curl", ["file:///etc/passwd"]],
    ["node", ["-e", "1"]],
    ["python3", ["-c", "1"]],
    ["awk", ["BEGIN{system()}"]],
    ["env", ["id"]],
    ["xargs", ["id"]],
    ["find", [".", "-exec", "id", ";"]],
    ["rsync", ["-e", "id", "a", "b"]],
    ["ssh", ["-oProxyCommand=id", "host"]],
    ["npm", ["exec", "id"]],
  ])("X02: %s %j is refused by the rules of arguments, and nothing runs", async (name, args) => {
    const scratch = await makeScratch();
    const isStarter = !["git", "tar", "curl"].includes(name);
    // The rules decide before the file is looked at, so the program need not be installed.
    const rules = isStarter
      ? { calls: [["--version"]] }
      : name === "git"
        ? { commands: ["log", "status"], operands: "text" as const }
        : { operands: { pattern: "https://.*" } };
    const { result, text } = await scratch.run({ name, path: path(name), ...rules }, args);
    expect(result.failure?.code).toBe("TOOL_ARGUMENTS");
    expect(text).toContain("Nothing was run.");
  });

  it.each([
    ["git", "--upload-pack"],
    ["git", "-c"],
    ["tar", "--checkpoint-action"],
    ["curl", "-o"],
  ])("X02: %s cannot be given the option %s by the list", (name, option) => {
    expect(refusalOf({ name, path: path(name), options: { [option]: { pattern: ".*" } } })).toBe("CONFIG_INVALID");
  });
});

describe("X03: arguments that programs read as options", () => {
  it.each(["-rf", "--help", "--", "-", "@file"])("X03: %j is refused", async (argument) => {
    const scratch = await makeScratch();
    const path = await scratch.script("show", showArguments);
    for (const operands of ["text", "path"] as const)
      expect((await scratch.run({ path, operands }, [argument])).result.failure?.code).toMatch(argument === "-" ? /./ : /^TOOL_ARGUMENTS$/);
  });

  it("X03: operands stand behind `--` where the list asks for it", async () => {
    const scratch = await makeScratch();
    const path = await scratch.script("show", showArguments);
    const { deltas } = await scratch.run({ path, operands: "text", options: { "-n": { pattern: "\\d+" } }, doubleDash: true }, [
      "a",
      "-n",
      "3",
    ]);
    expect(JSON.parse(deltas[0] ?? "")).toEqual(["-n", "3", "--", "a"]);
  });
});

describe("X04: variables", () => {
  it("X04: a call has no member for variables", async () => {
    const scratch = await makeScratch();
    const tool = cliExecute({ programs: [{ name: "show", path: await scratch.script("show", showArguments) }], directory: scratch.root });
    const { runTool } = await import("@loopwright/testing");
    for (const env of ["LD_PRELOAD", "NODE_OPTIONS", "PATH", "GIT_SSH_COMMAND", "BASH_ENV"])
      expect((await runTool(tool, { program: "show", env: { [env]: "x" } })).result.failure?.code).toBe("TOOL_ARGUMENTS");
  });

  it.each(["LD_PRELOAD", "NODE_OPTIONS", "PATH", "GIT_SSH_COMMAND", "BASH_ENV", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "a=b"])(
    "X04: the list cannot name %s",
    (name) => {
      expect(refusalOf({ name: "show", path: "/usr/bin/true", variables: [name] })).toBe("CONFIG_INVALID");
    },
  );

  it("X04: a child has the listed variables and no other, whatever this process has (C14, C15, C68)", async () => {
    const scratch = await makeScratch();
    const path = await scratch.script("show", "console.log(JSON.stringify([process.env, process.argv.slice(2)]));");
    const environment = { ACME_TOKEN: "listed", ACME_KEY: canary, LD_PRELOAD: "/tmp/x.so", OPENAI_API_KEY: canary };
    const { deltas } = await scratch.run({ path, variables: ["ACME_TOKEN", "ABSENT"] }, [], { environment });
    const [variables, argv] = JSON.parse(deltas[0] ?? "");
    expect(Object.keys(variables).sort()).toEqual(["ACME_TOKEN", "LANG", "LOOPWRIGHT_CALL_MARK", "PATH"]);
    expect(variables).toMatchObject({ ACME_TOKEN: "listed", PATH: "/usr/local/bin:/usr/bin:/bin" });
    expect(argv).toEqual([]);
  });
});

describe.each([
  ["kept apart as far as this system can", undefined],
  ["in a process group alone", noIsolation],
])("X05: programs that do not end, %s", (_, forced) => {
  it("X05: too many processes are stopped, and none is left", { timeout: 60_000 }, async () => {
    const scratch = await makeScratch(forced);
    const token = randomUUID();
    const path = await scratch.script(
      "many",
      `const { spawn } = require("node:child_process");
       for (let count = 0; count < 40; count++) spawn("/bin/sh", ["-c", "sleep 600; : ${token}"], { stdio: "ignore" }).on("error", () => process.exit(9));
       setTimeout(() => {}, 600000);`,
    );
    const { result, text } = await scratch.run({ path }, [], { limits: { processesMax: 25 } });
    // The kernel refuses the process, or all of them are stopped.
    expect(result.failure?.code === "TOOL_FAILED" || text.includes("Exit code 9")).toBe(true);
    if (isLinux) expect(await processesWith(token)).toBe(0);
  });

  it("X05: output without end is cut and stopped", { timeout: 60_000 }, async () => {
    const scratch = await makeScratch(forced);
    const { result, deltas, text } = await scratch.run({ path: "/usr/bin/yes", operands: "text" }, [], {
      limits: { outputBytesMax: 10_000, droppedBytesMax: 200_000 },
    });
    expect(result.failure?.code).toBe("TOOL_FAILED");
    expect(deltas.join("").slice(0, 10_000)).toBe("y\n".repeat(5_000));
    expect(deltas.join("").slice(10_000)).toBe("\n[The output was cut after 10000 bytes.]");
    expect(text).toContain("wrote more than 200000 bytes of output");
  });

  it("X05: long output is cut with a notice while the program ends by itself", async () => {
    const scratch = await makeScratch(forced);
    const path = await scratch.script("long", 'process.stdout.write("a".repeat(30_000));');
    const { result, deltas } = await scratch.run({ path }, [], { limits: { outputBytesMax: 10_000 } });
    expect(result.outcome).toBe("ok");
    expect(deltas.join("")).toBe(`${"a".repeat(10_000)}\n[The output was cut after 10000 bytes. Exit code 0.]`);
  });

  it("X05: a daemon in a session of its own is gone when the call ends", async () => {
    const scratch = await makeScratch(forced);
    const token = randomUUID();
    const path = await scratch.script(
      "daemon",
      `const { spawn } = require("node:child_process");
       const child = spawn("/bin/sh", ["-c", "sleep 600; : ${token}"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
       child.once("spawn", () => { child.unref(); process.exit(0); });`,
    );
    const { result } = await scratch.run({ path });
    expect(result.outcome).toBe("ok");
    if (isLinux) expect(await processesWith(token)).toBe(0);
  });

  it("X05: a program that ignores the request to end is killed when its time is over", { timeout: 60_000 }, async () => {
    const scratch = await makeScratch(forced);
    const token = randomUUID();
    const path = await scratch.script(
      "deaf",
      `process.on("SIGTERM", () => {}); console.log("begun"); setInterval(() => {}, 1000); // ${token}`,
    );
    const { result, deltas, text } = await scratch.run({ path }, [], { limits: { durationMs: 1_500 } });
    expect(result.failure?.code).toBe("TOOL_TIMEOUT");
    expect(text).toContain("it ran for more than 1500 ms");
    expect(deltas.length).toBeLessThanOrEqual(1);
    if (isLinux) expect(await processesWith(path)).toBe(0);
  });

  it("X05: it has no terminal and no input to ask for a password", async () => {
    const scratch = await makeScratch(forced);
    const path = await scratch.script(
      "ask",
      `const { openSync, readFileSync } = require("node:fs");
       let terminal = "opened"; try { openSync("/dev/tty", "r+"); } catch (error) { terminal = error.code; }
       console.log(JSON.stringify([readFileSync(0, "utf8"), terminal]));`,
    );
    const [input, terminal] = JSON.parse((await scratch.run({ path })).deltas[0] ?? "");
    expect(input).toBe("");
    expect(terminal).toMatch(/^E/);
  });

  it("X05, P09: files without end are stopped by their count and by their bytes", { timeout: 60_000 }, async () => {
    const scratch = await makeScratch(forced);
    const many = await scratch.script(
      "many",
      'const fs = require("node:fs"); for (let count = 0; count < 300; count++) fs.writeFileSync("f" + count, "x");',
    );
    expect((await scratch.run({ path: many }, [], { limits: { entriesMax: 200 } })).result.failure?.code).toBe("FILE_LIMIT");
    const large = await scratch.script("large", 'require("node:fs").writeFileSync("large", Buffer.alloc(3_000_000));');
    expect((await scratch.run({ path: large }, [], { limits: { directoryBytesMax: 1_000_000 } })).result.failure?.code).toBe("FILE_LIMIT");
  });

  it("X05: an abort ends all of its processes", async () => {
    const scratch = await makeScratch(forced);
    const token = randomUUID();
    const abort = new AbortController();
    const path = await scratch.script(
      "parent",
      `require("node:child_process").spawn("/bin/sh", ["-c", "sleep 600; : ${token}"], { stdio: "ignore" }).once("spawn", () => console.log("begun"));`,
    );
    const { result } = await scratch.run({ path }, [], { context: { signal: abort.signal }, onDelta: () => abort.abort() });
    expect(result.failure?.code).toBe("RUN_ABORTED");
    if (isLinux) expect(await processesWith(token)).toBe(0);
  });
});

describe("X05: limits of the kernel", () => {
  it.runIf(isolation.resourceLimits)("X05: one file and memory have a limit", async () => {
    const scratch = await makeScratch();
    const file = await scratch.script(
      "file",
      'process.on("SIGXFSZ", () => {}); try { require("node:fs").writeFileSync("large", Buffer.alloc(3_000_000)); } catch (error) { console.log(error.code); }',
    );
    expect((await scratch.run({ path: file }, [], { limits: { fileBytesMax: 1_000_000 } })).deltas.join("")).toContain("EFBIG");
    const memory = await scratch.script(
      "memory",
      "const held = []; for (let count = 0; count < 60; count++) held.push(Buffer.alloc(20_000_000, 1)); console.log(held.length);",
    );
    const { deltas } = await scratch.run({ path: memory }, [], { limits: { memoryBytesMax: 700_000_000 } });
    expect(deltas.join("")).not.toContain("Exit code 0");
  });

  it.runIf(isolation.namespaces)("X05: a program has no network unless the list gives it one", async () => {
    const scratch = await makeScratch();
    const path = await scratch.script("net", 'console.log(Object.keys(require("node:os").networkInterfaces()).length);');
    expect((await scratch.run({ path })).deltas.join("")).toMatch(/^0\n/);
    expect((await scratch.run({ path, network: true })).deltas.join("")).toMatch(/^[1-9]\d*\n/);
  });
});

describe("X06: scripts of Windows shells", () => {
  it.each(["/tools/run.bat", "/tools/run.CMD", "/tools/run.cmd ", "/tools/run.bat.", "/tools/run.ps1"])(
    "X06: %j cannot be on the list",
    (path) => {
      expect(refusalOf({ name: "run", path })).toBe("CONFIG_INVALID");
    },
  );

  it.each(["git", "./git", "bin/git", ""])("X06: %j is no absolute path", (path) => {
    expect(refusalOf({ name: "git", path })).toBe("CONFIG_INVALID");
  });
});

describe("X07: the variables of the process above", () => {
  it.runIf(isolation.namespaces)("X07: no process that a program can see has a secret of ours in its environment", async () => {
    const scratch = await makeScratch();
    const path = await scratch.script(
      "look",
      `const fs = require("node:fs");
       const seen = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map((name) => { try { return fs.readFileSync("/proc/" + name + "/environ", "utf8"); } catch { return ""; } });
       console.log(process.ppid, seen.length, seen.join().includes("CANARY"));`,
    );
    const parent = fileURLToPath(new URL("canary-parent.ts", import.meta.url));
    const output = execFileSync(process.execPath, ["--conditions=@loopwright/source", parent, path, scratch.root], {
      env: { ...process.env, ACME_API_KEY: canary },
      encoding: "utf8",
    });
    expect(output).toContain("0 1 false");
  });
});

describe("paths in arguments", () => {
  const trial = async () => {
    const scratch = await makeScratch();
    const path = await scratch.script("show", showArguments);
    return {
      scratch,
      codeOf: async (argument: string) =>
        (await scratch.run({ path, operands: "path", options: { "--file": "path" } }, [argument])).result.failure?.code,
    };
  };

  it.each([
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "./.",
    "",
    ".",
    "..",
    "~/.ssh/id_rsa",
    "a//b",
    "--file=../x",
    "--file=/etc/passwd",
  ])("P01: %j is an invalid path", async (argument) => {
    expect(await (await trial()).codeOf(argument)).toBe("INVALID_PATH");
  });

  it.each(["..\\..\\x", "C:\\x", "\\\\host\\share", "con", "aux.txt", "file.txt ", "file.txt.", "a:stream"])(
    "P02: %j is refused on every platform",
    async (argument) => {
      expect(await (await trial()).codeOf(argument)).toBe("INVALID_PATH");
    },
  );

  it.each(["..%2f", "..\u2215etc"])("P03: %j is a plain name, never decoded", async (argument) => {
    expect(await (await trial()).codeOf(argument)).toBeUndefined();
  });

  it.each(["a\0.txt", "n".repeat(256), "p/".repeat(2_500), Array(60).fill("d").join("/"), "a\u0007b", "a\u202Etxt.exe", "a\uD83Db"])(
    "P04: path number %# is refused",
    async (argument) => {
      expect(await (await trial()).codeOf(argument)).toMatch(/^(INVALID_PATH|TOOL_ARGUMENTS)$/);
    },
  );

  it("P05: links, hard links and FIFOs are refused", async () => {
    const { scratch, codeOf } = await trial();
    execFileSync("ln", ["-s", scratch.outside, join(scratch.root, "link")]);
    execFileSync("ln", [join(scratch.outside, "secret.txt"), join(scratch.root, "hard")]);
    execFileSync("mkfifo", [join(scratch.root, "fifo")]);
    for (const argument of ["link", "link/secret.txt", "hard", "fifo"]) expect(await codeOf(argument)).toBe("NOT_REGULAR");
  });

  it("P06: the files of another session are not reached", async () => {
    const { codeOf } = await trial();
    for (const argument of ["../files-evil/secret.txt", "../files-evil", "/proc/self/environ"])
      expect(await codeOf(argument)).toBe("INVALID_PATH");
  });

  it("P07: an archive cannot leave the directory, fill it, or plant a link that is followed", { timeout: 60_000 }, async () => {
    const scratch = await makeScratch();
    const build = scratch.outside;
    execFileSync(
      "sh",
      [
        "-c",
        "ln -s /etc planted && tar -cf link.tar planted && tar --transform='s,^,../,' -Pcf up.tar secret.txt && mkdir many && cd many && seq 300 | xargs touch && cd .. && tar -cf many.tar many && truncate -s 5M zeros && tar -czf bomb.tgz zeros",
      ],
      { cwd: build },
    );
    for (const name of ["link.tar", "up.tar", "many.tar", "bomb.tgz"]) execFileSync("cp", [join(build, name), scratch.root]);
    const tar: CliProgram = { name: "tar", path: "/usr/bin/tar", options: { "-xf": "path" } };
    const limits = { entriesMax: 200, directoryBytesMax: 1_000_000 };
    await scratch.run(tar, ["-xf", "up.tar"], { limits });
    expect(existsSync(join(scratch.root, "../secret.txt"))).toBe(false);
    await scratch.run(tar, ["-xf", "link.tar"], { limits });
    const show = await scratch.script("show", showArguments);
    expect((await scratch.run({ path: show, operands: "path" }, ["planted/passwd"])).result.failure?.code).toBe("NOT_REGULAR");
    for (const name of ["many.tar", "bomb.tgz"])
      expect((await scratch.run(tar, ["-xf", name], { limits })).result.failure?.code).toBe("FILE_LIMIT");
  });

  it("P08: what a program writes is a file of the directory, and its output is text", async () => {
    const scratch = await makeScratch();
    const path = await scratch.script(
      "page",
      'require("node:fs").writeFileSync("a.html", "<script>1</script>"); console.log("<script>2</script>");',
    );
    const { result } = await scratch.run({ path });
    expect(result.output.map(({ type }) => type)).toEqual(["text"]);
    expect(await readdir(scratch.root)).toEqual(["a.html"]);
  });
});

describe("the file of a program", () => {
  it("may not lie where a call could replace it", async () => {
    const scratch = await makeScratch();
    await writeFile(join(scratch.root, "own"), "#!/bin/sh\n", { mode: 0o755 });
    const { result, text } = await scratch.run({ path: join(scratch.root, "own") });
    expect(result.failure?.code).toBe("TOOL_FAILED");
    expect(text).toContain("lies in the working directory");
    expect((await scratch.run({ path: "/usr/bin/there-is-no-such-program" })).text).toContain("is not installed");
  });

  it("is not run where the system refuses to start it", async () => {
    const scratch = await makeScratch();
    const run = { path: "/usr/bin/there-is-no-such-program", args: [], directory: scratch.root, variables: {}, network: false };
    const { defaultCliLimits: limits } = await import("../src/index.ts");
    await expect(
      runProgram({ ...run, limits, isolation: noIsolation, signal: new AbortController().signal, onOutput() {} }),
    ).rejects.toThrow("ENOENT");
  });
});

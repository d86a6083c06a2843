import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { decideProgram, installCommand, installEnvironment, providePrograms, which } from "./system-deps.mjs";

const debian = 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n';
const ubuntu = "ID=ubuntu\nID_LIKE=debian\n";

/** A machine with these programs, by name and path. */
const machine = (programs, rest = {}) => ({
  platform: "linux",
  uid: 0,
  env: {},
  osRelease: debian,
  which: (name) => programs[name],
  ...rest,
});
const apt = { "apt-get": "/usr/bin/apt-get" };

describe.each([
  ["browser", "Chromium", "LOOPWRIGHT_CHROMIUM", "chromium-headless-shell"],
  ["redis", "redis-server", "LOOPWRIGHT_REDIS_SERVER", "redis-server"],
])("%s", (name, title, variable, debianPackage) => {
  test("one that is there is taken, and nothing is installed", () => {
    const path = `/usr/bin/${debianPackage}`;
    expect(decideProgram(name, machine({ ...apt, [debianPackage]: path }))).toEqual({ type: "found", path });
    expect(decideProgram(name, machine({ [debianPackage]: path }, { uid: 1000 }))).toEqual({ type: "found", path });
  });

  test("the one that is named wins, and a name that leads nowhere is reported rather than replaced", () => {
    const env = { [variable]: "/opt/mine" };
    const programs = { ...apt, [debianPackage]: `/usr/bin/${debianPackage}` };
    expect(decideProgram(name, machine({ ...programs, "/opt/mine": "/opt/mine" }, { env }))).toEqual({ type: "found", path: "/opt/mine" });
    expect(decideProgram(name, machine(programs, { env }))).toMatchObject({
      type: "missing",
      reason: expect.stringContaining("/opt/mine"),
    });
  });

  test("root on Debian installs it", () => {
    expect(decideProgram(name, machine(apt))).toEqual({ type: "install", debianPackage });
  });

  test.each([
    ["another user", { uid: 1000 }, apt, /only root/],
    ["whoever forbids it", { env: { LOOPWRIGHT_SYSTEM_DEPS: "0" } }, apt, /LOOPWRIGHT_SYSTEM_DEPS=0 forbids/],
    ["another distribution", { osRelease: "ID=fedora\n" }, apt, undefined],
    ["Debian without apt-get", {}, {}, undefined],
    ["a Mac", { platform: "darwin", osRelease: "", uid: 501 }, {}, undefined],
    ["Windows", { platform: "win32", osRelease: "", uid: undefined }, {}, undefined],
  ])("%s gets a reason and no installation", (_, rest, programs, reason) => {
    const wanted = reason ?? new RegExp(`no ${title}`);
    expect(decideProgram(name, machine(programs, rest))).toEqual({ type: "missing", reason: expect.stringMatching(wanted) });
  });
});

test("a browser of a Mac is found where it is, and Ubuntu's package of that name, a stand-in, is not taken", () => {
  const mac = "/Applications/Chromium.app/Contents/MacOS/Chromium";
  expect(decideProgram("browser", machine({ [mac]: mac }, { platform: "darwin", osRelease: "" }))).toEqual({ type: "found", path: mac });
  expect(decideProgram("browser", machine({ "google-chrome": "/opt/chrome" }))).toEqual({ type: "found", path: "/opt/chrome" });
  expect(decideProgram("browser", machine(apt, { osRelease: ubuntu }))).toMatchObject({ type: "missing" });
  expect(decideProgram("redis", machine(apt, { osRelease: ubuntu }))).toMatchObject({ type: "install" });
});

test("what is missing is installed in one run, without questions, and no service is started", () => {
  const [, , line] = installCommand(["chromium", "redis-server"]);
  expect(line).toBe("apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium redis-server");
  expect(installEnvironment).toEqual({ DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" });
});

test("a program that no package is known for is installed, or reported as missing, all the same", () => {
  expect(decideProgram("disk", machine(apt))).toEqual({ type: "install", debianPackage: "fiu-utils" });
  expect(decideProgram("disk", machine({ "fiu-run": "/usr/bin/fiu-run" }))).toEqual({ type: "found", path: "/usr/bin/fiu-run" });
  expect(decideProgram("disk", machine({}))).toMatchObject({
    type: "missing",
    reason: expect.stringMatching(/There is no libfiu.*Install libfiu/),
  });
});

test("what is there is given at once and without a word; what is missing costs one line that names what is skipped", async () => {
  const written = [];
  const say = (line) => written.push(line);
  expect(await providePrograms(["redis"], say, { machine: machine({ "redis-server": "/usr/bin/redis-server" }) })).toEqual({
    redis: "/usr/bin/redis-server",
  });
  expect(written).toEqual([]);
  expect(await providePrograms(["browser", "redis"], say, { machine: machine({ chromium: "/usr/bin/chromium" }, { uid: 1000 }) })).toEqual({
    browser: "/usr/bin/chromium",
  });
  expect(written).toEqual([expect.stringMatching(/^There is no redis-server\..*What is tested on a real Redis is skipped\.$/)]);
});

test.skipIf(process.platform === "win32")(
  "installing ends with the paths of what was installed; what was not is reported as skipped",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "loopwright-apt-"));
    const path = process.env.PATH;
    onTestFinished(() => {
      process.env.PATH = path;
      rmSync(folder, { recursive: true });
    });
    // Brings Redis, not the browser, and writes down how it was called.
    const script = `#!/bin/sh\necho "$RUNLEVEL $*" >> "${folder}/calls"\n[ "$1" = update ] || { echo >"${folder}/redis-server"; chmod +x "${folder}/redis-server"; }\n`;
    writeFileSync(join(folder, "apt-get"), script, { mode: 0o755 });
    process.env.PATH = `${folder}:${path}`;
    const written = [];
    const here = { ...machine({}), which: (name) => which(join(folder, name)) };
    expect(await providePrograms(["browser", "redis"], (line) => written.push(line), { machine: here })).toEqual({
      redis: join(folder, "redis-server"),
    });
    expect(readFileSync(join(folder, "calls"), "utf8").split("\n")).toEqual([
      "1 update -qq",
      "1 install -y -qq --no-install-recommends chromium-headless-shell redis-server",
      "",
    ]);
    expect(written).toEqual([
      expect.stringContaining("chromium-headless-shell and redis-server"),
      expect.stringMatching(/Chromium could not be installed.*skipped/),
    ]);
  },
);

describe("a browser that opens pages in less time", () => {
  const chromium = { chromium: "/usr/bin/chromium" };
  const shell = { "chromium-headless-shell": "/usr/bin/chromium-headless-shell" };

  test("is taken where it is, and installed beside another one only where it is asked for and may be installed", () => {
    expect(decideProgram("browser", machine({ ...apt, ...chromium, ...shell }), true)).toMatchObject({
      type: "found",
      path: "/usr/bin/chromium-headless-shell",
    });
    expect(decideProgram("browser", machine({ ...apt, ...chromium }), true)).toEqual({
      type: "install",
      debianPackage: "chromium-headless-shell",
      instead: "/usr/bin/chromium",
    });
    const found = { type: "found", path: "/usr/bin/chromium" };
    expect(decideProgram("browser", machine({ ...apt, ...chromium }))).toEqual(found);
    for (const rest of [{ uid: 1000 }, { osRelease: ubuntu }, { env: { LOOPWRIGHT_SYSTEM_DEPS: "0" } }, { platform: "darwin" }])
      expect(decideProgram("browser", machine({ ...apt, ...chromium }, rest), true)).toEqual(found);
    const env = { LOOPWRIGHT_CHROMIUM: "/usr/bin/chromium" };
    expect(decideProgram("browser", machine({ ...apt, "/usr/bin/chromium": "/usr/bin/chromium" }, { env }), true)).toEqual(found);
  });

  test.skipIf(process.platform === "win32")("is done without where it cannot be installed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "loopwright-apt-"));
    const path = process.env.PATH;
    onTestFinished(() => {
      process.env.PATH = path;
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, "apt-get"), "#!/bin/sh\nexit 100\n", { mode: 0o755 });
    process.env.PATH = `${folder}:${path}`;
    const written = [];
    const options = { machine: machine({ ...apt, ...chromium }), best: ["browser"] };
    expect(await providePrograms(["browser"], (line) => written.push(line), options)).toEqual({ browser: "/usr/bin/chromium" });
    expect(written).toEqual([expect.stringContaining("chromium-headless-shell")]);
  });
});

test("a program is found by name and by path, and what cannot be run is none", () => {
  expect(which("sh")).toMatch(/\/sh$/);
  expect(which(process.execPath)).toBe(process.execPath);
  expect(which("no-such-program-here")).toBeUndefined();
  expect(which(fileURLToPath(new URL("../README.md", import.meta.url)))).toBeUndefined();
});

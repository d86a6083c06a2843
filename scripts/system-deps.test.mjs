import { expect, test } from "vitest";
import { decideBrowser, which } from "./system-deps.mjs";

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

test("a browser that is there is taken, and nothing is installed", () => {
  expect(decideBrowser(machine({ ...apt, chromium: "/usr/bin/chromium" }))).toEqual({ type: "found", path: "/usr/bin/chromium" });
  expect(decideBrowser(machine({ "google-chrome": "/opt/chrome" }, { uid: 1000 }))).toEqual({ type: "found", path: "/opt/chrome" });
  const mac = "/Applications/Chromium.app/Contents/MacOS/Chromium";
  expect(decideBrowser(machine({ [mac]: mac }, { platform: "darwin", osRelease: "" }))).toEqual({ type: "found", path: mac });
});

test("the browser that is named wins, and a name that leads nowhere is said rather than replaced", () => {
  const env = { LOOPWRIGHT_CHROMIUM: "/opt/mine" };
  const programs = { ...apt, chromium: "/usr/bin/chromium" };
  expect(decideBrowser(machine({ ...programs, "/opt/mine": "/opt/mine" }, { env }))).toEqual({ type: "found", path: "/opt/mine" });
  expect(decideBrowser(machine(programs, { env }))).toMatchObject({ type: "missing", reason: expect.stringContaining("/opt/mine") });
});

test("root on Debian installs it", () => {
  const { type, command } = decideBrowser(machine(apt));
  expect(type).toBe("install");
  expect(command.join(" ")).toContain("apt-get install -y -qq --no-install-recommends chromium");
});

test.each([
  ["another user", { uid: 1000 }, apt, /only root/],
  ["whoever forbids it", { env: { LOOPWRIGHT_SYSTEM_DEPS: "0" } }, apt, /LOOPWRIGHT_SYSTEM_DEPS=0 forbids/],
  ["Ubuntu, whose package is a stand-in", { osRelease: ubuntu }, apt, /no Chromium/],
  ["Debian without apt-get", {}, {}, /no Chromium/],
  ["a Mac", { platform: "darwin", osRelease: "", uid: 501 }, {}, /no Chromium/],
  ["Windows", { platform: "win32", osRelease: "", uid: undefined }, {}, /no Chromium/],
])("%s gets a reason and no installation", (_, rest, programs, reason) => {
  expect(decideBrowser(machine(programs, rest))).toEqual({ type: "missing", reason: expect.stringMatching(reason) });
});

test("a program is found by name and by path, and what cannot be run is none", () => {
  expect(which("sh")).toMatch(/\/sh$/);
  expect(which(process.execPath)).toBe(process.execPath);
  expect(which("no-such-program-here")).toBeUndefined();
  expect(which(new URL("../README.md", import.meta.url).pathname)).toBeUndefined();
});

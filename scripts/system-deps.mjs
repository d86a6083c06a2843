// The one program that tests want and npm does not bring: a Chromium for the browser tests.
// Plain Node without dependencies: it must run before anything is installed.
import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** What a Chromium is called, the likeliest first. Ubuntu's `chromium-browser` is a stand-in that starts nothing, so it is none. */
const browserNames = ["chromium", "google-chrome-stable", "google-chrome"];
const macBrowsers = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];

const installing = ["sh", "-c", "apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium"];

/**
 * What to do about the browser of the tests: `found` (with its path), `install` (with the command) or `missing` (with the reason).
 * Depends on what it is given alone: `which` gives the path of a program or undefined, `osRelease` is the text of /etc/os-release.
 */
export function decideBrowser({ platform, uid, env, which, osRelease = "" }) {
  const named = env.LOOPWRIGHT_CHROMIUM;
  if (named) {
    const path = which(named);
    return path ? { type: "found", path } : { type: "missing", reason: `LOOPWRIGHT_CHROMIUM names \`${named}\`, which cannot be run.` };
  }
  const candidates = platform === "darwin" ? [...macBrowsers, ...browserNames] : browserNames;
  const path = candidates.map((name) => which(name)).find(Boolean);
  if (path) return { type: "found", path };
  const hint = "Install Chromium, or name one in LOOPWRIGHT_CHROMIUM.";
  if (!isDebian(osRelease) || platform !== "linux" || !which("apt-get"))
    return { type: "missing", reason: `There is no Chromium. ${hint}` };
  if (env.LOOPWRIGHT_SYSTEM_DEPS === "0")
    return { type: "missing", reason: `LOOPWRIGHT_SYSTEM_DEPS=0 forbids installing Chromium. ${hint}` };
  if (uid !== 0) return { type: "missing", reason: "There is no Chromium, and only root may install it: `apt-get install chromium`." };
  return { type: "install", command: installing };
}

/** Debian itself: the package of the same name in Ubuntu needs a snap daemon. */
function isDebian(osRelease) {
  return /^ID="?debian"?$/m.test(osRelease);
}

/** The path of a program, by name in the PATH or by path; undefined where there is none. */
export function which(name) {
  const paths = name.includes("/") ? [name] : (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function decide() {
  let osRelease = "";
  try {
    osRelease = readFileSync("/etc/os-release", "utf8");
  } catch {
    // Only Linux has one.
  }
  return decideBrowser({ platform: process.platform, uid: process.getuid?.(), env: process.env, which, osRelease });
}

/**
 * Looks for the browser and begins to install it where that may be done; the installation goes on beside whatever the caller does next.
 * Resolves with the path of the browser, or undefined after a line that says why there is none. `say` prints a line.
 */
export function provideBrowser(say) {
  const decision = decide();
  if (decision.type === "found") return Promise.resolve(decision.path);
  const skipped = (reason) => say(`${reason} The browser tests are skipped.`);
  if (decision.type === "missing") {
    skipped(decision.reason);
    return Promise.resolve(undefined);
  }
  say("installs Debian's chromium for the browser tests (apt-get, beside the build; LOOPWRIGHT_SYSTEM_DEPS=0 forbids it).");
  const logFile = join(tmpdir(), `loopwright-chromium-${process.pid}.log`);
  const log = openSync(logFile, "w");
  const [command, ...args] = decision.command;
  const child = spawn(command, args, { stdio: ["ignore", log, log], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  closeSync(log);
  return new Promise((resolve) => {
    const end = (code) => {
      const path = code === 0 ? which(browserNames[0]) : undefined;
      if (!path) skipped(`Chromium could not be installed, see ${logFile}.`);
      resolve(path);
    };
    child.on("error", () => end(undefined));
    child.on("exit", end);
  });
}

// The programs that tests want and npm does not bring: a Chromium for the browser tests, a Redis for those of what lives on Redis, and what makes
// a disk fail.
// Plain Node without dependencies: it must run before anything is installed.
import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const macBrowsers = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];

/** What a program is for, how it is found, and the Debian package that brings it. */
const programs = {
  browser: {
    title: "Chromium",
    variable: "LOOPWRIGHT_CHROMIUM",
    // The shell first: the same engine without windows and profiles, so a page opens in less than half of the CPU time. Ubuntu's
    // `chromium-browser` is a stand-in that starts nothing, so it is none.
    names: ["chromium-headless-shell", "chromium", "google-chrome-stable", "google-chrome"],
    macNames: macBrowsers,
    debianPackage: "chromium-headless-shell",
    // Ubuntu has no such package, and its `chromium` needs a snap daemon.
    distributions: ["debian"],
    tests: "The browser tests are",
  },
  redis: {
    title: "redis-server",
    variable: "LOOPWRIGHT_REDIS_SERVER",
    names: ["redis-server", "/usr/bin/redis-server", "/usr/local/bin/redis-server"],
    macNames: ["/opt/homebrew/bin/redis-server"],
    debianPackage: "redis-server",
    distributions: ["debian", "ubuntu"],
    tests: "What is tested on a real Redis is",
  },
  disk: {
    title: "libfiu (fiu-utils)",
    names: ["fiu-run", "/usr/bin/fiu-run"],
    macNames: [],
    debianPackage: "fiu-utils",
    distributions: ["debian", "ubuntu"],
    tests: "What is tested on a disk that fails is",
  },
};

/**
 * What to do about a program (`browser`, `redis`, `disk`): `found` (with its path), `install` (with the Debian package) or `missing` (with the reason).
 * `wantsBest`: one that is there and not the first of its names is a substitute, `instead`, for the package that may be installed.
 * Depends on what it is given alone: `which` gives the path of a program or undefined, `osRelease` is the text of /etc/os-release.
 */
export function decideProgram(name, { platform, uid, env, which, osRelease = "" }, wantsBest = false) {
  const { title, variable, names, macNames, debianPackage, distributions } = programs[name];
  const named = variable && env[variable];
  if (named) {
    const path = which(named);
    return path ? { type: "found", path } : { type: "missing", reason: `${variable} names \`${named}\`, which cannot be run.` };
  }
  const candidates = platform === "darwin" ? [...macNames, ...names] : names;
  const path = candidates.map((candidate) => which(candidate)).find(Boolean);
  const mayInstall = platform === "linux" && distributions.includes(idOf(osRelease)) && which("apt-get");
  if (path) {
    const isBest = !wantsBest || path === which(candidates[0]);
    const mayImprove = mayInstall && uid === 0 && env.LOOPWRIGHT_SYSTEM_DEPS !== "0";
    return isBest || !mayImprove ? { type: "found", path } : { type: "install", debianPackage, instead: path };
  }
  const hint = variable ? `Install ${title}, or name one in ${variable}.` : `Install ${title}.`;
  if (!mayInstall) return { type: "missing", reason: `There is no ${title}. ${hint}` };
  if (env.LOOPWRIGHT_SYSTEM_DEPS === "0")
    return { type: "missing", reason: `LOOPWRIGHT_SYSTEM_DEPS=0 forbids installing ${title}. ${hint}` };
  if (uid !== 0)
    return { type: "missing", reason: `There is no ${title}, and only root may install it: \`apt-get install ${debianPackage}\`.` };
  return { type: "install", debianPackage };
}

const idOf = (osRelease) => /^ID="?(\w+)"?$/m.exec(osRelease)?.[1];

/** Seconds that a better program than the one that is there may take to be installed. */
const improvementSecondsMax = 90;

/** One run of apt-get for all packages that are missing. */
export function installCommand(packages) {
  return ["sh", "-c", `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(" ")}`];
}

/** What the installation runs with: no questions, and a service that comes with a package is not started (tests start their own Redis). */
export const installEnvironment = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };

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

function machineHere() {
  let osRelease = "";
  try {
    osRelease = readFileSync("/etc/os-release", "utf8");
  } catch {
    // Only Linux has one.
  }
  return { platform: process.platform, uid: process.getuid?.(), env: process.env, which, osRelease };
}

/**
 * Looks for the programs and begins to install those that are missing where that may be done; the installation continues beside whatever the
 * caller does next. Resolves with the paths by name, without those that are not to be had; a line gives the reason. `say` prints a line.
 * `best`: the names of those that are installed too where only a slower substitute is there.
 */
export async function providePrograms(names, say, { machine = machineHere(), best = [] } = {}) {
  const decisions = names.map((name) => ({ name, ...decideProgram(name, machine, best.includes(name)) }));
  const skipped = (name, reason) => say(`${reason} ${programs[name].tests} skipped.`);
  for (const { name, type, reason } of decisions) if (type === "missing") skipped(name, reason);
  const paths = Object.fromEntries(decisions.filter(({ type }) => type === "found").map(({ name, path }) => [name, path]));
  const toInstall = decisions.filter(({ type }) => type === "install");
  if (toInstall.length === 0) return paths;
  const packages = toInstall.map(({ debianPackage }) => debianPackage);
  say(`installs Debian's ${packages.join(" and ")} for the tests (apt-get, beside the build; LOOPWRIGHT_SYSTEM_DEPS=0 forbids it).`);
  const logFile = join(tmpdir(), `loopwright-packages-${process.pid}.log`);
  // With a substitute for each, a machine without a network loses little time.
  const secondsMax = toInstall.every(({ instead }) => instead) ? improvementSecondsMax : undefined;
  const isInstalled = await install(installCommand(packages), logFile, secondsMax);
  for (const { name, instead } of toInstall) {
    const path = (isInstalled ? programs[name].names.map((candidate) => machine.which(candidate)).find(Boolean) : undefined) ?? instead;
    if (path) paths[name] = path;
    else skipped(name, `${programs[name].title} could not be installed, see ${logFile}.`);
  }
  return paths;
}

function install([command, ...args], logFile, secondsMax) {
  const log = openSync(logFile, "w");
  const limit = secondsMax === undefined ? {} : { timeout: secondsMax * 1_000 };
  const child = spawn(command, args, { stdio: ["ignore", log, log], env: { ...process.env, ...installEnvironment }, ...limit });
  closeSync(log);
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

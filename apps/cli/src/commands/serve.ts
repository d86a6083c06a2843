import { AgentError } from "@loopwright/core";
import { receiveOrder, reportReady } from "../daemon/daemon-child.ts";
import { daemonPlace, readState, removeState, writeState } from "../daemon/daemon-state.ts";
import { followLines, tailLines } from "../daemon/log-tail.ts";
import { processIdentity } from "../daemon/process-identity.ts";
import { type DaemonOrder, startDaemon } from "../daemon/start-daemon.ts";
import { stopDaemon } from "../daemon/stop-daemon.ts";
import { exitCodes } from "../exit-code.ts";
import { settingsWithSecrets } from "../flags.ts";
import { passphraseSource } from "../secrets/passphrase.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { type RunFlags, runSettings } from "../serve/run-settings.ts";
import { checkSeparateSecrets } from "../serve/separate-secrets.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { neutralise, oneLine } from "../terminal/neutralise.ts";
import { run } from "./run.ts";

const healthMs = 3_000;
const stopSecondsMax = 86_400;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const remark = (text: string): void => void process.stderr.write(`${text}\n`);

/** Starts `run` in the background and returns when it is ready. @throws AgentError CONFIG_INVALID where one runs here, and for settings that are wrong */
export async function startServe(flags: RunFlags): Promise<number> {
  const place = daemonPlace(process.cwd());
  const started = await startDaemon(place, () => orderOf(flags));
  if ("lines" in started) {
    remark(`The server ended before it was ready. Its log ${oneLine(place.log, 200)} ends so:`);
    for (const line of started.lines) remark(neutralise(line));
    return started.code;
  }
  const { pid, url } = started;
  print(
    url === undefined
      ? `Loopwright works in the background (process ${pid}).`
      : `Loopwright serves in the background at ${url} (process ${pid}).`,
  );
  print("`loopwright serve status`, `logs` and `stop` are about it.");
  return exitCodes.ok;
}

/** The order for the process in the background. What is wrong, and a passphrase, is a matter of the terminal here. */
async function orderOf(flags: RunFlags): Promise<DaemonOrder> {
  let used: string | undefined;
  const settings = await settingsWithSecrets(flags, {
    logger: errorLogger,
    passphraseFor: (environment) => {
      const source = passphraseSource(environment);
      return async (path) => {
        used = await source(path);
        return used;
      };
    },
  });
  checkSeparateSecrets(runSettings(settings.configuration.values, settings), settings.environment);
  return { flags, ...(used === undefined ? {} : { passphrase: used }) };
}

/** The process in the background. */
export async function serveChild(): Promise<number> {
  const { flags, passphrase } = await receiveOrder();
  const place = daemonPlace(process.cwd());
  const startedAt = Date.now();
  const self = { pid: process.pid, identity: processIdentity(process.pid) ?? "" };
  writeState(place, { startedAt, url: undefined });
  try {
    return await run(flags as RunFlags, {
      ...(passphrase === undefined ? {} : { passphraseFor: () => async () => passphrase }),
      onReady: (url) => {
        writeState(place, { startedAt, url });
        reportReady(url === undefined ? {} : { url });
      },
    });
  } finally {
    removeState(place, self);
  }
}

/** Ends the process in the background: it is asked to, and killed where it has not after the time. */
export async function stopServe({ timeout = "10" }: { readonly timeout?: string }): Promise<number> {
  const timeoutMs = secondsOf(timeout) * 1_000;
  const place = daemonPlace(process.cwd());
  const known = readState(place);
  if (!known?.isRunning) {
    if (known) removeState(place, known.state);
    remark("No server runs in the background of this working directory.");
    return exitCodes.ok;
  }
  const outcome = await stopDaemon(known.state, timeoutMs);
  removeState(place, known.state);
  remark(
    outcome === "stopped"
      ? `Stopped (process ${known.state.pid}).`
      : `Killed (process ${known.state.pid}): it had not ended after ${timeoutMs / 1_000} s. Open runs continue at the next start.`,
  );
  return exitCodes.ok;
}

function secondsOf(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= stopSecondsMax) return seconds;
  throw new AgentError("INPUT_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no time to wait.`,
    fix: `Pass seconds from 0 to ${stopSecondsMax} with \`--timeout\`.`,
  });
}

/** Prints whether it runs, where and since when; the exit code is 1 where it does not run or does not answer. */
export async function serveStatus({ json }: { readonly json?: boolean }): Promise<number> {
  const known = readState(daemonPlace(process.cwd()));
  if (!known?.isRunning) {
    if (json) print(jsonLine({ isRunning: false, pid: known?.state.pid }));
    else print(known ? `not running: process ${known.state.pid} has ended without a word` : "not running");
    return exitCodes.failed;
  }
  const { pid, url, startedAt } = known.state;
  const uptimeSeconds = Math.max(0, Math.round((Date.now() - startedAt) / 1_000));
  const health = url === undefined ? "unknown" : await healthOf(url);
  if (json) print(jsonLine({ isRunning: true, pid, url, health, uptimeSeconds }));
  else
    for (const [name, value] of [
      ["process", `${pid}`],
      ["address", url ?? "none"],
      ["health", health],
      ["uptime", durationOf(uptimeSeconds)],
    ])
      print(`${name}: ${value}`);
  return health === "ready" || url === undefined ? exitCodes.ok : exitCodes.failed;
}

async function healthOf(url: string): Promise<"ready" | "not ready" | "no answer"> {
  try {
    const { ok, body } = await fetch(`${url}/readyz`, { redirect: "manual", signal: AbortSignal.timeout(healthMs) });
    await body?.cancel();
    return ok ? "ready" : "not ready";
  } catch {
    return "no answer";
  }
}

function durationOf(seconds: number): string {
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  return [days > 0 ? `${days} d` : "", hours > 0 ? `${hours} h` : "", minutes > 0 ? `${minutes} min` : "", `${seconds % 60} s`]
    .filter(Boolean)
    .join(" ");
}

interface LogFlags {
  readonly lines?: string;
  readonly follow?: boolean;
}

/** Prints the end of its log, and with `--follow` what is added, until Ctrl+C. */
export async function serveLogs({ lines = "100", follow }: LogFlags): Promise<number> {
  const count = /^\d{1,6}$/.test(lines) ? Number(lines) : Number.NaN;
  if (Number.isNaN(count))
    throw new AgentError("INPUT_INVALID", {
      message: `\`${oneLine(lines, 40)}\` is no count of lines.`,
      fix: "Pass a whole number with `--lines`.",
    });
  const { log } = daemonPlace(process.cwd());
  if (!follow) {
    for (const line of await tailLines(log, count)) print(neutralise(line));
    return exitCodes.ok;
  }
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  for await (const line of followLines(log, count, ending.signal)) print(neutralise(line));
  return exitCodes.ok;
}

// One process at a time installs and builds in this folder: two at once would delete what the other has just built.
// Plain Node without dependencies: it must run before anything is installed.
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const pollMs = 100;

/** When a process began, where the system shows it: its id may be used again. */
function beganAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

const tagOf = (pid) => `${pid} ${beganAt(pid) ?? ""}`.trim();

function isAlive(tag) {
  const [pid, began] = tag.split(" ");
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (error.code !== "EPERM") return false;
  }
  return began === undefined || began === beganAt(pid);
}

/**
 * Takes the lock: resolves with a function that gives it back. While another process holds it, waits; `onWait` is called once with the holder's id.
 * The lock of a process that has died is taken over.
 */
export async function lockWorkspace(path, onWait = () => {}) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, tagOf(process.pid));
  let hasWaited = false;
  try {
    // A hard link is made whole or not at all, so a lock is never seen without its holder.
    while (!tryLink(own, path)) {
      const holder = read(path);
      if (holder === undefined) continue;
      if (!isAlive(holder)) {
        removeStale(path, holder, own);
        continue;
      }
      if (!hasWaited) onWait(Number(holder.split(" ")[0]));
      hasWaited = true;
      await pause(pollMs);
    }
  } finally {
    rmSync(own, { force: true });
  }
  const mine = tagOf(process.pid);
  return () => {
    if (read(path) === mine) rmSync(path, { force: true });
  };
}

function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Two processes may find the same dead holder. The one that may remove its lock checks again, so that the lock of a live process stays. */
function removeStale(path, holder, own) {
  const right = `${path}.takeover`;
  if (!tryLink(own, right)) {
    const remover = read(right);
    if (remover !== undefined && !isAlive(remover)) rmSync(right, { force: true });
    return;
  }
  if (read(path) === holder) rmSync(path, { force: true });
  rmSync(right, { force: true });
}

/*
 * A claim has two steps. First the lease object is replaced under its etag: of all concurrent claims and renewals one gets it, and from then on it
 * names the claimant and the new epoch. Then the claim takes the next slot of the log: from there on every write of an older epoch
 * collides with it and is fenced. A claimant that dies between the steps has kept others off for the time of its lease, no longer, and the
 * owner of the epoch before writes until then.
 */
import type { ClaimOutcome, LogHead } from "@loopwright/core/ports";
import type { PutOutcome } from "../conditional-blobs.ts";
import { storeLimits } from "../store-limits.ts";
import type { LogState } from "./log-state.ts";
import { type OpenLog, wholeState } from "./open-log.ts";
import { openObject, sealObject } from "./sealed-object.ts";
import { checkWritten, noAnswer, writeEntry } from "./write-entry.ts";

/** The content of the lease object of a log. */
interface Lease {
  readonly epoch: number;
  readonly node: string;
  readonly leaseMs: number;
  readonly nonce: string;
  readonly life?: string;
  readonly released?: true;
}

interface FoundLease {
  readonly lease: Lease;
  readonly etag: string;
  readonly ageMs: number;
}

export type RunningLease = NonNullable<LogHead["lease"]>;

/** The lease of a log where one runs. */
export async function runningLease(log: OpenLog, state: LogState): Promise<RunningLease | undefined> {
  return runningOf(log, state, await findLease(log));
}

export async function claimLog(
  log: OpenLog,
  { node, leaseMs }: { readonly node: string; readonly leaseMs: number },
): Promise<ClaimOutcome> {
  for (let tries = 0; tries < storeLimits.leaseTriesMax; tries++) {
    const [state, found] = [wholeState(await log.current()), await findLease(log)];
    const running = runningOf(log, state, found);
    if (running && running.node !== node) return { type: "held", ...running };
    const lease: Lease = {
      epoch: Math.max(state.epoch, found?.lease.epoch ?? 0) + 1,
      node,
      leaseMs,
      nonce: crypto.randomUUID(),
      ...lifeOf(log),
    };
    if (!(await putLease(log, lease, found?.etag))) continue;
    const lastSeq = await enterClaim(log, lease);
    if (lastSeq !== undefined) return { type: "claimed", epoch: lease.epoch, lastSeq };
  }
  throw noAnswer(log);
}

/** Writes the claim into the log; `undefined` when a later claim was faster. */
async function enterClaim(log: OpenLog, { epoch, nonce }: Lease): Promise<number | undefined> {
  const claim = { epoch, nonce };
  for (let tries = 0; tries < storeLimits.leaseTriesMax; tries++) {
    const outcome = await writeEntry(log, async (state) => (state.epoch < epoch ? { header: { claim } } : undefined));
    const state = outcome.type === "unknown" ? wholeState(await log.advance()) : wholeState(await log.known());
    // An epoch is given once, by the lease object: if the log has it, it is ours.
    if (state.epoch === epoch) return state.lastSeq;
    if (state.epoch > epoch) return undefined;
    if (outcome.type === "full") checkWritten(outcome, log);
    await log.pause(tries);
    if (tries >= 2) break;
  }
  throw noAnswer(log);
}

export async function renewLease(log: OpenLog, { epoch, leaseMs }: { readonly epoch: number; readonly leaseMs: number }): Promise<boolean> {
  return changeLease(log, epoch, (lease) => ({ ...lease, leaseMs }));
}

export async function releaseLease(log: OpenLog, epoch: number): Promise<void> {
  await changeLease(log, epoch, (lease) => ({ ...lease, released: true }));
}

/** Replaces the lease of an epoch as long as it is the newest and was not given back. */
async function changeLease(log: OpenLog, epoch: number, change: (lease: Lease) => Lease): Promise<boolean> {
  for (let tries = 0; tries < storeLimits.leaseTriesMax; tries++) {
    const [state, found] = [wholeState(await log.current()), await findLease(log)];
    if (!found || state.epoch !== epoch || found.lease.epoch !== epoch || found.lease.released || state.released === epoch) return false;
    if (state.isRemoved) return false;
    if (await putLease(log, { ...change(found.lease), nonce: crypto.randomUUID(), ...lifeOf(log) }, found.etag)) return true;
  }
  throw noAnswer(log);
}

/** True when the lease object is now this one; false when another process was faster. @throws AgentError STORE_UNAVAILABLE, STORE_FULL */
async function putLease(log: OpenLog, lease: Lease, etag: string | undefined): Promise<boolean> {
  const { bytes } = sealObject({ header: lease, lines: [] }, { key: log.keys.lease, before: "" });
  const outcome: PutOutcome = await log.deps.blobs.put(
    log.keys.lease,
    bytes,
    etag === undefined ? { ifNoneMatch: true } : { ifMatch: etag },
  );
  if (outcome.type === "written") return true;
  if (outcome.type === "refused" && !outcome.mayBeOwn) return false;
  checkWritten(outcome.type === "full" ? outcome : { type: "written" }, log);
  // It may be in, or come in later: then the next try finds that out at its etag.
  const found = await findLease(log);
  if (found?.lease.nonce === lease.nonce) return true;
  if (outcome.type === "unknown") throw noAnswer(log);
  return false;
}

async function findLease(log: OpenLog): Promise<FoundLease | undefined> {
  const { lease: key } = log.keys;
  const object = await log.get(key);
  if (!object) return undefined;
  const { header } = openObject(object.bytes, { key, before: "" });
  return { lease: header as Lease, etag: object.etag, ageMs: object.ageMs };
}

function runningOf({ deps: { blobs } }: OpenLog, state: LogState, found: FoundLease | undefined): RunningLease | undefined {
  if (!found || state.isRemoved) return undefined;
  const { lease, ageMs } = found;
  const isOver = lease.released || lease.epoch < state.epoch || lease.epoch === state.released || lease.life !== blobs.exclusive?.life;
  if (isOver || ageMs >= lease.leaseMs + (blobs.clockGrainMs ?? 0)) return undefined;
  return { node: lease.node, remainingMs: Math.max(1, lease.leaseMs - ageMs) };
}

function lifeOf({ deps }: OpenLog): { readonly life?: string } {
  return deps.blobs.exclusive ? { life: deps.blobs.exclusive.life } : {};
}

import { randomBytes } from "node:crypto";
import type { AppendOutcome, AppendRequest, ClaimOutcome, LeaseRenewal, LogHead, SessionLog, SessionRef } from "@loopwright/core/ports";
import { checkedRef, factTexts, parentOf } from "@loopwright/core/stores";
import type { Connection, Outcome } from "../connection/connection.ts";
import { damaged, faultOf, historyLost, isFull, rolledBack, unreadable } from "../connection/redis-fault.ts";
import { listOf, numberOf, textOf } from "../connection/reply.ts";
import { answerOf, run } from "../connection/script.ts";
import type { StoreKeys } from "../keys.ts";
import { isUnreadable, ofSession } from "../keys-of-wrong-type.ts";
import { dueSessions, memberOf } from "./due-sessions.ts";
import { sumOf } from "./fact-chain.ts";
import type { FactReader } from "./fact-reader.ts";
import type { KnownLogs } from "./known-logs.ts";
import { appendScript, claimScript, headScript, releaseScript, removeScript, renewScript, setDueScript } from "./log-scripts.ts";
import type { RestoreDetection } from "./restore-detection.ts";
import type { TailSubscriptions } from "./tail-subscriptions.ts";

/** What the parts of a store share. */
export interface StoreParts {
  readonly connection: Connection;
  readonly keys: StoreKeys;
  readonly memory: KnownLogs;
  readonly reader: FactReader;
  readonly tails: TailSubscriptions;
  readonly marks: RestoreDetection;
  /** The clock of the store, as scripts take it: empty for Redis's own. */
  readonly now: () => string;
  /** Called when a session was removed by this process. */
  readonly onRemoved: (ref: SessionRef) => void;
}

const all: number = Number.MAX_SAFE_INTEGER;

/** The log in Redis: every change is one script, every answer is verified. */
export function redisLog(parts: StoreParts): SessionLog {
  const { connection, keys, memory, reader, tails, marks, now } = parts;
  const answer = (program: Parameters<typeof answerOf>[1], ref: SessionRef, args: readonly string[]): Promise<unknown> =>
    ofSession(ref, answerOf(connection, program, { keys: [keys.session(ref).meta, keys.due, keys.held], args }));
  return {
    async append(ref, request) {
      return append(parts, checkedRef(ref), request);
    },
    async read(ref, options) {
      return reader.read(checkedRef(ref), { from: Math.max(1, options?.from ?? 1), limit: options?.limit ?? all });
    },
    async head(ref) {
      const known = memory.of(checkedRef(ref));
      const head = listOf(await answer(headScript, ref, [now()]));
      const [seq, , isRemoved] = head.map((value) => (typeof value === "number" ? value : 0));
      if (seq !== undefined && seq < known.seq && isRemoved === 0) throw historyLost(ref.session, known.seq, seq);
      return headOf(head);
    },
    async claim(ref, { node, leaseMs }) {
      await marks.look();
      const token = randomBytes(8).toString("hex");
      const outcome = claimOf(listOf(await answer(claimScript, checkedRef(ref), [now(), node, String(leaseMs), token, memberOf(ref)])));
      if (outcome.type === "claimed") memory.claimed(ref, outcome.epoch, token);
      return outcome;
    },
    async renew(ref, { epoch, leaseMs }) {
      return (await renewAll(parts, [{ ref, epoch, leaseMs }]))[0] === true;
    },
    renewAll: async (renewals) => renewAll(parts, renewals),
    async release(ref, epoch) {
      await answer(releaseScript, checkedRef(ref), [String(epoch), memory.tokenOf(ref, epoch), memberOf(ref)]);
    },
    async due(options) {
      marks.lookBeside();
      return dueSessions({ connection, keys, now }, options);
    },
    async setDue(ref, { expectedSeq, due }) {
      const { meta } = keys.session(checkedRef(ref));
      const args = [String(expectedSeq), dueOf(due), memberOf(ref)];
      await answerOf(connection, setDueScript, { keys: [meta, keys.due, keys.held], args });
    },
    async remove(ref) {
      const own = keys.session(checkedRef(ref));
      const { meta, facts, batches, snapshots, view, texts, blobs } = own;
      const input = { keys: [meta, facts, batches, snapshots, view, texts, keys.index(ref.scope), keys.due, blobs, keys.held] };
      await answerOf(connection, removeScript, { ...input, args: [ref.session, memberOf(ref), own.tail, keys.blobsOf(ref.scope)] });
      memory.forget(ref);
      parts.onRemoved(ref);
      tails.notify(ref, 0);
    },
    subscribe: (ref, listener) => tails.subscribe(checkedRef(ref), listener),
  };
}

async function renewAll({ connection, keys, memory, now }: StoreParts, renewals: readonly LeaseRenewal[]): Promise<readonly boolean[]> {
  if (renewals.length === 0) return [];
  const input = {
    keys: [keys.held, ...renewals.map(({ ref }) => keys.session(checkedRef(ref)).meta)],
    args: [
      now(),
      ...renewals.flatMap(({ ref, epoch, leaseMs }) => [String(epoch), memory.tokenOf(ref, epoch), String(leaseMs), memberOf(ref)]),
    ],
  };
  const answers = listOf(await answerOf(connection, renewScript, input));
  return renewals.map((_, index) => answers[index] === 1);
}

async function append(parts: StoreParts, ref: SessionRef, request: AppendRequest): Promise<AppendOutcome> {
  const { connection, keys, memory, tails, marks } = parts;
  const { expectedSeq, epoch, batchId, facts, release = false, due } = request;
  const bodies = factTexts(request);
  const own = keys.session(ref);
  const known = memory.of(ref);
  const last = facts.at(-1);
  const args = [
    ...[String(expectedSeq), String(epoch ?? ""), epoch === undefined ? "" : memory.tokenOf(ref, epoch), batchId],
    ...[known.seq === expectedSeq && known.seq > 0 ? String(known.chain) : "", flag(last?.type === "session.closed")],
    ...[flag(release && epoch !== undefined), due === undefined ? "" : dueOf(due)],
    ...[String(Number.isFinite(last?.at) ? last?.at : 0), ref.session, memberOf(ref), own.tail, parentOf(facts) ?? ""],
  ];
  for (const body of bodies) args.push(String(sumOf(ref, body)), body);
  const input = { keys: [own.meta, own.facts, own.batches, keys.index(ref.scope), keys.due, keys.store, keys.held], args };
  const answered = await run(connection, appendScript, input);
  if (answered.type === "refused" && answered.refusal.word === "WRONGTYPE" && (await isUnreadable(parts, ref)))
    throw unreadable(ref.session);
  const outcome = appendOutcomeOf(answered, { parts, ref, known: known.seq });
  if (outcome.type === "ok") {
    memory.saw(ref, outcome.lastSeq, outcome.chain);
    tails.notify(ref, outcome.lastSeq);
    if (release) marks.lookBeside();
    return { type: "ok", lastSeq: outcome.lastSeq };
  }
  return outcome;
}

interface Written {
  readonly type: "ok";
  readonly lastSeq: number;
  readonly chain: number;
}
type Unwritten = { readonly type: "dup"; readonly lastSeq: number } | Exclude<AppendOutcome, { readonly type: "ok" | "dup" }>;

function appendOutcomeOf(
  outcome: Outcome,
  { parts, ref, known }: { readonly parts: StoreParts; readonly ref: SessionRef; readonly known: number },
): Written | Unwritten {
  const { connection } = parts;
  if (outcome.type === "uncertain") return { type: "unknown" };
  if (outcome.type === "unsent") throw outcome.error;
  if (outcome.type === "refused") {
    if (isFull(outcome.refusal)) return { type: "full" };
    if (outcome.refusal.isOldId) throw damaged(ref.session, known + 1);
    throw faultOf(outcome.refusal, connection.where);
  }
  const [type, number, chain] = listOf(outcome.reply);
  switch (type) {
    case "ok":
      return { type, lastSeq: numberOf(number), chain: numberOf(chain) };
    case "dup":
      return { type, lastSeq: numberOf(number) };
    case "conflict":
      return { type, actualSeq: numberOf(number) };
    case "fenced":
      return { type, currentEpoch: numberOf(number) };
    case "closed":
      return { type };
    case "forked":
      throw historyLost(ref.session, known, numberOf(number));
    case "back":
      throw rolledBack(connection.where, numberOf(number), numberOf(chain));
    case "damaged":
      throw damaged(ref.session, numberOf(number));
    default:
      // What came is no answer to what was asked: whether it was written is not known.
      return { type: "unknown" };
  }
}

const flag = (isSet: boolean): string => (isSet ? "1" : "");
const dueOf = (due: number | null): string => (due === null ? "never" : String(due));

function headOf([seq, epoch, , node, remainingMs]: readonly unknown[]): LogHead {
  const lease = textOf(node) ? { lease: { node: textOf(node) ?? "", remainingMs: numberOf(remainingMs) } } : {};
  return { lastSeq: numberOf(seq), epoch: numberOf(epoch), ...lease };
}

function claimOf([type, first, second]: readonly unknown[]): ClaimOutcome {
  return type === "held"
    ? { type, node: textOf(first) ?? "", remainingMs: numberOf(second) }
    : { type: "claimed", epoch: numberOf(first), lastSeq: numberOf(second) };
}

import { AgentError } from "@loopwright/core";
import { idPattern, isId, type SessionRef } from "@loopwright/core/ports";

/** The keys of one session. They share a hash tag, so that a session never lies apart. */
export interface SessionKeys {
  /** Hash: seq, chain, epoch, token, node, until, lease, closed, removed. */
  readonly meta: string;
  /** Stream of the facts, under ids `<seq>-0`. */
  readonly facts: string;
  /** Hash: batch id -> seq of the batch's last fact. Lives as long as the log. */
  readonly batches: string;
  /** Hash: name -> JSON. */
  readonly snapshots: string;
  /** Hash: the projection of the log, and up to which seq. */
  readonly view: string;
  /** List: what people and the model wrote, for the search. */
  readonly texts: string;
  /** Hash of the blobs that the session owns: `b:<key>` -> bytes, `t:<key>` -> media type. */
  readonly blobs: string;
  /** Channel on which the seq of the tail is published. */
  readonly tail: string;
}

/** Every key that a store uses. No prefix has a brace and no id a point or a slash, so no key can pass for another. */
export interface StoreKeys {
  session(ref: SessionRef): SessionKeys;
  /** What the keys of sessions begin with, for scripts that find a session by itself. */
  readonly sessions: string;
  /** Sorted set: `<scope> <session>` by the date on which the session needs an owner; without those that a lease holds. */
  readonly due: string;
  /** Sorted set: `<scope> <session>` by the end of the lease that holds it, of sessions with a date, which is in `meta` meanwhile. */
  readonly held: string;
  /** Hash: which generation the data is, and whether it went back to an older state. */
  readonly store: string;
  /** Sorted set: the processes that use the data, by the mark that each left last. */
  readonly marks: string;
  /** Sorted set: session id by the time of its last fact; of the sessions without a parent. */
  index(scope: string): string;
  /** The same of the children of a session. The sets of a scope lie together. */
  children(scope: string, parent: string): string;
  /** A blob of the scope. */
  blob(scope: string, key: string): string;
  /** Sorted set of the keys of blobs of all owners, all with score 0. */
  blobs(scope: string): string;
  /** Hash whose fields are the sessions that own a blob. */
  owners(scope: string, key: string): string;
  /** Hash: what counts as spent for an account of the usage ledger. */
  account(name: string): string;
  /** Hash: one reservation in the usage ledger. */
  reservation(id: string): string;
  /** What the keys of blobs begin with, for scripts that find a blob by itself. */
  blobsOf(scope: string): string;
}

const prefixShape = /^[A-Za-z0-9][A-Za-z0-9:_.-]{0,63}$/;

/** @throws AgentError CONFIG_INVALID when the prefix holds what keys and patterns mean something by. */
export function storeKeys(prefix: string): StoreKeys {
  if (!prefixShape.test(prefix))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${prefix.slice(0, 80)}\` is no prefix of keys.`,
      fix: `A prefix matches ${prefixShape.source}.`,
    });
  const sessions = `${prefix}:{`;
  return {
    session({ scope, session }) {
      const own = `${sessions}${scope}.${session}}:`;
      return {
        meta: `${own}meta`,
        facts: `${own}facts`,
        batches: `${own}batches`,
        snapshots: `${own}drafts`,
        view: `${own}view`,
        texts: `${own}texts`,
        blobs: `${own}blobs`,
        tail: `${own}tail`,
      };
    },
    sessions,
    due: `${prefix}:{due}`,
    held: `${prefix}:{due}:held`,
    store: `${prefix}:{store}`,
    marks: `${prefix}:{marks}`,
    index: (scope) => `${prefix}:{index/${checkedScope(scope)}}`,
    children: (scope, parent) => `${prefix}:{index/${checkedScope(scope)}}:children:${parent}`,
    blob: (scope, key) => `${prefix}:{blobs/${checkedScope(scope)}}:blob:${key}`,
    blobs: (scope) => `${prefix}:{blobs/${checkedScope(scope)}}:keys`,
    owners: (scope, key) => `${prefix}:{blobs/${checkedScope(scope)}}:owners:${key}`,
    account: (name) => `${prefix}:{ledger}:account:${name}`,
    reservation: (id) => `${prefix}:{ledger}:reservation:${id}`,
    blobsOf: (scope) => `${prefix}:{blobs/${checkedScope(scope)}}:`,
  };
}

function checkedScope(scope: string): string {
  if (!isId(scope))
    throw new AgentError("INPUT_INVALID", {
      message: `\`${scope.slice(0, 80)}\` is not an id.`,
      fix: `An id matches ${idPattern.source}.`,
    });
  return scope;
}

import { AgentError } from "@loopwright/core";

/** An answer of Redis that it will not do what was asked. Nothing of its text is passed on: it may quote what was sent. */
export interface Refusal {
  /** The first word of the answer: `OOM`, `READONLY`, `NOSCRIPT`, ... */
  readonly word: string;
  /** True when the disk under Redis is full. */
  readonly isDiskFull: boolean;
  /** True when a stream has an entry under the id already: the log is longer than its own account of it. */
  readonly isOldId: boolean;
}

/** Redis before version 7 puts the error of a script's command behind the place in the script. */
const inScript = /@user_script:\s?\d+:\s*-?([A-Z]+)\b/;

/** The text of an error reply of Redis. */
export function refusalOf({ message }: Error): Refusal {
  const word = inScript.exec(message)?.[1] ?? /^([A-Z]+)\b/.exec(message)?.[1] ?? "ERR";
  return { word, isDiskFull: /no space left/i.test(message), isOldId: /XADD is equal or smaller/.test(message) };
}

/** True when there is no room for what was to be written. */
export function isFull({ word, isDiskFull }: Refusal): boolean {
  return word === "OOM" || isDiskFull;
}

/** True when another server, or the same one later, may answer otherwise: the connection is made anew. */
export function isOfConnection({ word }: Refusal): boolean {
  return ["READONLY", "NOAUTH", "WRONGPASS", "MASTERDOWN"].includes(word);
}

/** The refusal as an error of ours; `where` names the server without its password. */
export function faultOf(refusal: Refusal, where: string): AgentError {
  if (isFull(refusal))
    return new AgentError("STORE_FULL", {
      message: `The Redis at ${where} has no space left.`,
      fix: "Raise its `maxmemory` or free its disk; nothing acknowledged is lost.",
    });
  switch (refusal.word) {
    case "READONLY":
    case "MISCONF":
      return new AgentError("STORE_READ_ONLY", {
        message: `The Redis at ${where} takes no writes now (${refusal.word}).`,
        fix: "Name the primary, and look into the log of the server.",
        retryable: true,
      });
    case "WRONGPASS":
    case "NOAUTH":
      return new AgentError("STORE_UNAVAILABLE", {
        message: `The Redis at ${where} refuses the user or the password.`,
        fix: "Check the user and the password of the store.",
      });
    case "NOPERM":
      return new AgentError("STORE_UNAVAILABLE", {
        message: `The Redis at ${where} does not allow its user a command or a key of the store.`,
        fix: "Allow the user EVALSHA, EVAL, the commands of the README, and the keys and channels under the prefix.",
        retryable: false,
      });
    case "WRONGTYPE":
      return new AgentError("STORE_CORRUPT", {
        message: `The Redis at ${where} has other values under the keys of the store.`,
        fix: "Choose another `prefix`.",
      });
    case "MOVED":
    case "ASK":
    case "CROSSSLOT":
      return clusterRefused(where);
    default:
      return new AgentError("STORE_UNAVAILABLE", {
        message: `The Redis at ${where} refused a command of the store (${refusal.word}).`,
        fix: "Look into the log of the server.",
      });
  }
}

export function clusterRefused(where: string): AgentError {
  return new AgentError("CONFIG_INVALID", {
    message: `The Redis at ${where} is a node of a cluster.`,
    fix: "Name a Redis that is no cluster: dates and lists are kept over all sessions in one step.",
  });
}

/** The error of a server that cannot be reached or does not answer. */
export function unavailable(where: string, what: string): AgentError {
  return new AgentError("STORE_UNAVAILABLE", {
    message: `The Redis at ${where} ${what}.`,
    fix: "Check that it runs and can be reached; nothing acknowledged is lost.",
  });
}

/** The error of data that went back: a mark of then (by Redis's clock) was missed, and the newest one there is of another moment. */
export function rolledBack(where: string, missed: number, found: number): AgentError {
  const state = found > 0 ? `that of ${new Date(found).toISOString()}` : "without any trace of it";
  return new AgentError("STORE_ROLLED_BACK", {
    message: `The data of the Redis at ${where} went back to an older state: it was seen at ${new Date(missed).toISOString()}, and is ${state}.`,
    details: { missed, found },
  });
}

/** The error of a session whose log has gone back to an older state, or is gone, without having been removed. */
export function historyLost(session: string, known: number, lastSeq: number): AgentError {
  return new AgentError("HISTORY_LOST", {
    message:
      lastSeq < known
        ? `The log of session \`${session}\` went up to fact ${known} and ends at ${lastSeq}: the store has lost its end.`
        : `The log of session \`${session}\` is not the one that was read up to fact ${known}: the store went back to an older state.`,
    fix: "Restore Redis from its newest data; sessions that were written since continue under new ids.",
    details: { seq: lastSeq, knownSeq: known },
  });
}

/** The error of a log whose facts do not fit together. */
export function damaged(session: string, seq: number): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${session}\` is damaged at fact ${seq}.`,
    details: { seq },
  });
}

/** The error of a session under whose keys lie values of another type: nothing of it can be read. */
export function unreadable(session: string): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${session}\` cannot be read: its keys hold values of another type.`,
    fix: "Restore the session from a backup, or delete it.",
  });
}

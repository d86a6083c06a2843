/*
 * Owns: how a delivery is signed, by the rules of Standard Webhooks (https://www.standardwebhooks.com), which many services and libraries keep.
 * Invariants: the signature covers id, time and body; signatures are compared in constant time.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { AgentError } from "@loopwright/core/protocol";
import { idCharsMax, secretBytesMin, toleranceMs } from "./webhook-limits.ts";

/** What a signature covers. */
export interface SignedDelivery {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** The key of a secret: `whsec_` and base64, or a text. @throws AgentError CONFIG_INVALID for one that could be guessed */
export function keyOf(secret: string): Buffer {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret, "utf8") : Buffer.from(encoded, "base64");
  if (key.length < secretBytesMin)
    throw new AgentError("CONFIG_INVALID", {
      message: `The secret of a webhook has fewer than ${secretBytesMin} bytes and could be guessed.`,
      fix: "Take `whsec_` and what `openssl rand -base64 32` prints.",
    });
  return key;
}

const digestOf = (key: Buffer, { id, timestamp, body }: SignedDelivery): Buffer =>
  createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();

/** The headers of a signed delivery, one signature for each secret. @throws AgentError CONFIG_INVALID for a secret that could be guessed */
export function signedHeaders(secrets: readonly string[], delivery: SignedDelivery): Readonly<Record<string, string>> {
  const keys = secrets.map(keyOf);
  return {
    "webhook-id": delivery.id,
    "webhook-timestamp": String(delivery.timestamp),
    "webhook-signature": keys.map((key) => `v1,${digestOf(key, delivery).toString("base64")}`).join(" "),
  };
}

/** What a check of a delivery gives: its id, or why it is refused. */
export type CheckedDelivery = { readonly id: string } | { readonly refused: "unsigned" | "stale" | "wrong signature" };

/** Checks a delivery: one of the keys has signed it, about now. */
export function checkDelivery(
  secrets: readonly string[],
  { headers, body }: { readonly headers: Headers; readonly body: string },
  now: number,
): CheckedDelivery {
  const keys = secrets.map(keyOf);
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  const signatures = (headers.get("webhook-signature") ?? "").split(" ").flatMap((one) => (one.startsWith("v1,") ? one.slice(3) : []));
  if (!/^[\x21-\x7e]+$/.test(id) || id.length > idCharsMax || !/^\d{1,12}$/.test(timestamp) || signatures.length === 0)
    return { refused: "unsigned" };
  const given = signatures.slice(0, 10).map((one) => Buffer.from(one, "base64"));
  const wanted = keys.map((key) => digestOf(key, { id, timestamp: Number(timestamp), body }));
  const isSigned = wanted.some((one) => given.some((other) => other.length === one.length && timingSafeEqual(one, other)));
  if (!isSigned) return { refused: "wrong signature" };
  return Math.abs(now - Number(timestamp) * 1_000) > toleranceMs ? { refused: "stale" } : { id };
}

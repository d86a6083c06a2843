import { errorTable, isAgentError, type Json, type JsonObject } from "@loopwright/core/protocol";

/** Errors of A2A, with the reason that its 1.0 names beside the code. */
const rpcErrors = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
} as const;

export type RpcReason = keyof typeof rpcErrors;

/** The id of a request, which its answer repeats. */
export type RpcId = string | number | null;

/** A request that is refused. */
class RpcRefused extends Error {
  readonly reason: RpcReason;

  constructor(reason: RpcReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @throws RpcRefused */
export function refuse(reason: RpcReason, message: string): never {
  throw new RpcRefused(reason, message);
}

export interface RpcCall {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** The id in a body that may be no request at all. */
export function rpcIdOf(body: Json | undefined): RpcId {
  const id = isObject(body) ? body["id"] : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** @throws RpcRefused */
export function readRpcCall(body: Json): RpcCall {
  if (!isObject(body) || body["jsonrpc"] !== "2.0" || typeof body["method"] !== "string")
    return refuse("INVALID_REQUEST", 'Send an object with `"jsonrpc": "2.0"`, a `method` and an `id`.');
  const { method, params = {} } = body as { readonly method: string; readonly params?: Json };
  const id = rpcIdOf(body);
  if (id === null) return refuse("INVALID_REQUEST", "`id`: every request has one, a text or a number.");
  if (!isObject(params)) return refuse("INVALID_PARAMS", "`params`: send an object.");
  return { id, method, params };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An error as JSON-RPC has it. @throws any error that is neither a refusal nor an AgentError */
export function rpcErrorOf(id: RpcId, error: unknown): JsonObject {
  const { reason, message, metadata } = described(error);
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org", ...metadata };
  return { jsonrpc: "2.0", id, error: { code: rpcErrors[reason], message, data: [info] } };
}

/** The status of the answer: 200 for errors of the protocol, that of the error where the server refuses. */
export function rpcStatusOf(error: unknown): number {
  return isAgentError(error) && described(error).reason === "INTERNAL_ERROR" && Object.hasOwn(errorTable, error.code)
    ? errorTable[error.code].status
    : 200;
}

function described(error: unknown): { readonly reason: RpcReason; readonly message: string; readonly metadata?: JsonObject } {
  if (error instanceof RpcRefused) return { reason: error.reason, message: error.message };
  if (!isAgentError(error)) throw error;
  const { code } = error;
  const message = `${error.message} ${error.fix}`.trim();
  if (code === "SESSION_NOT_FOUND" || code === "RUN_NOT_FOUND") return { reason: "TASK_NOT_FOUND", message: "There is no such task." };
  if (code === "INPUT_INVALID") return { reason: "INVALID_PARAMS", message };
  return { reason: "INTERNAL_ERROR", message, metadata: { metadata: { code } } };
}

import type { ErrorCode } from "./error-code.ts";

export type { ErrorCode } from "./error-code.ts";

/** The kind of an error: decides retry, fallback and exit codes. */
export type ErrorClass = "rate" | "overload" | "timeout" | "network" | "auth" | "billing" | "format" | "refusal" | "context" | "unknown";

export interface ErrorEntry {
  readonly meaning: string;
  /** HTTP status of the problem document. */
  readonly status: number;
  readonly retryable: boolean;
  readonly class: ErrorClass;
  /** What to do; an error may bring a `fix` of its own. */
  readonly fix: string;
}

/** An entry in reading order: what happened, its class, what to do. */
const entry = (meaning: string, [status, kind]: readonly [number, ErrorClass], more: { retryable?: boolean; fix: string }): ErrorEntry => ({
  meaning,
  status,
  retryable: more.retryable ?? false,
  class: kind,
  fix: more.fix,
});

const again = { retryable: true } as const;

/** Every error code there is. The docs anchor of a code is the code in lower case. */
export const errorTable: { readonly [Code in ErrorCode]: ErrorEntry } = {
  // The model's side.
  MODEL_RATE_LIMITED: entry("The vendor limits the rate of calls.", [429, "rate"], {
    ...again,
    fix: "Wait, or lower the number of calls at once.",
  }),
  MODEL_QUOTA_EXHAUSTED: entry("The account has no quota left.", [402, "billing"], {
    fix: "Check the plan and the balance with the vendor.",
  }),
  MODEL_OVERLOADED: entry("The vendor is overloaded or failing.", [503, "overload"], {
    ...again,
    fix: "Try again in a moment, or use another model.",
  }),
  MODEL_CIRCUIT_OPEN: entry("The model has failed repeatedly, so it is not called for a while.", [503, "overload"], {
    ...again,
    fix: "Try again after the given time, or use another model.",
  }),
  MODEL_TIMEOUT: entry("The model did not answer in time.", [504, "timeout"], {
    ...again,
    fix: "Try again; raise the agent's `deadlines` if the model needs more time.",
  }),
  MODEL_UNREACHABLE: entry("The connection to the vendor could not be opened, or it broke.", [502, "network"], {
    ...again,
    fix: "Check the network, the proxy and the base URL.",
  }),
  MODEL_STREAM_BROKEN: entry("The model's answer ended before it was complete.", [502, "network"], { ...again, fix: "Try again." }),
  MODEL_PROTOCOL: entry("The vendor's answer could not be understood.", [502, "unknown"], {
    ...again,
    fix: "Check that the base URL is an API of the chosen vendor.",
  }),
  MODEL_REDIRECTED: entry("The address of the model answered with a redirect, which was not followed.", [502, "network"], {
    fix: "Pass the final address as the base URL, if you trust it with the key and the prompt.",
  }),
  MODEL_AUTH: entry("The vendor refused the key.", [401, "auth"], { fix: "Check the API key and that it may use this model." }),
  MODEL_KEY_MISSING: entry("No key for the vendor was given.", [401, "auth"], { fix: "Set the vendor's key variable or pass `apiKey`." }),
  MODEL_NOT_FOUND: entry("The vendor does not know the model.", [404, "format"], { fix: "Check the model's name." }),
  MODEL_BAD_REQUEST: entry("The vendor refused the request as malformed.", [400, "format"], {
    fix: "Check the options of the agent; if they are right, report a bug.",
  }),
  MODEL_THINKING_REFUSED: entry("The vendor refused the recorded thinking of an earlier answer.", [400, "format"], {
    ...again,
    fix: "Do nothing: this call is made again without that thinking, and so are all later calls.",
  }),
  MODEL_REFUSED: entry("The model or the vendor's filter declined to answer.", [422, "refusal"], { fix: "Rephrase the request." }),
  MODEL_UNSUPPORTED: entry("The model does not support the request.", [400, "format"], { fix: "Choose a model that supports it." }),
  CONTEXT_OVERFLOW: entry("The conversation does not fit the model's context window.", [413, "context"], {
    fix: "Start a new session or use a model with a larger window.",
  }),
  EXECUTOR_FAILED: entry("The program that answers in place of a model failed.", [502, "unknown"], {
    fix: "See the message: it has the end of what the program wrote to standard error.",
  }),
  // Tools.
  TOOL_UNKNOWN: entry("The model called a tool that does not exist.", [400, "format"], { fix: "Register the tool or correct the prompt." }),
  TOOL_ARGUMENTS: entry("The arguments of a tool call are not usable.", [400, "format"], {
    fix: "Check the tool's schema and description.",
  }),
  TOOL_NOT_ENABLED: entry("The tool is switched off for this call.", [403, "format"], { fix: "Enable the tool for this caller." }),
  TOOL_DENIED: entry("A hook or a person denied the call.", [403, "format"], { fix: "See the reason given." }),
  TOOL_FAILED: entry("The tool threw an error.", [500, "unknown"], { fix: "See the tool's own message." }),
  TOOL_TIMEOUT: entry("The tool did not end in time.", [504, "timeout"], { fix: "Raise the tool's `timeoutMs` or make it faster." }),
  TOOL_INTERRUPTED: entry("The tool was started and its outcome is unknown.", [500, "unknown"], {
    fix: "Check what the tool has done before you let it run again.",
  }),
  INPUT_REFUSED: entry("A hook refused the message.", [422, "refusal"], { fix: "See the reason in the message." }),
  ANSWER_WITHDRAWN: entry("A hook withdrew the answer.", [422, "refusal"], { fix: "See the reason in the message." }),
  HOOK_FAILED: entry("A hook, a prompt or another callback of the application threw an error.", [500, "unknown"], {
    fix: "See the log of the process: it has the error, its stack and its cause.",
  }),
  HOOK_TIMEOUT: entry("A hook, a prompt or a lookup did not answer in time.", [504, "timeout"], {
    fix: "Make it faster, or let it stop when its signal is aborted.",
  }),
  TOOL_LIMIT: entry("The run has no calls or no time left.", [429, "rate"], { fix: "Raise `limits.toolCallsMax` or `limits.durationMs`." }),
  INVALID_PATH: entry("The path is not allowed.", [400, "format"], { fix: "Use a relative path inside the files directory." }),
  NOT_REGULAR: entry("The path is not a regular file.", [400, "format"], { fix: "Name a regular file." }),
  FILE_NOT_FOUND: entry("The file does not exist.", [404, "format"], { fix: "List the files and check the name." }),
  FILE_EXISTS: entry("The file exists already.", [409, "format"], { fix: "Choose another name or allow overwriting." }),
  FILE_LIMIT: entry("A limit of the files directory is reached.", [413, "format"], { fix: "Delete files or raise the limit." }),
  // Runs and sessions.
  LIMIT_REACHED: entry("A limit of the run was reached.", [429, "rate"], { fix: "Send another message to continue, or raise the limit." }),
  RUN_ABORTED: entry("The run was stopped.", [499, "unknown"], { fix: "Send a message to continue." }),
  CRASHED: entry("The process that ran this attempt died.", [500, "unknown"], { ...again, fix: "Do nothing: it is made again." }),
  HANDED_OVER: entry("The process that ran this attempt gave the run to another one.", [500, "unknown"], {
    ...again,
    fix: "Do nothing: the attempt is made again, and this one does not count.",
  }),
  SESSION_NOT_FOUND: entry("There is no such session.", [404, "format"], { fix: "List the sessions and check the id." }),
  SESSION_EXISTS: entry("The session exists already.", [409, "format"], {
    fix: "Choose another id, or open the session without `context`.",
  }),
  SESSION_CLOSED: entry("The session is closed.", [410, "format"], { fix: "Start a new session." }),
  SESSION_BUSY: entry("A run of the session is open.", [409, "format"], {
    ...again,
    fix: "Wait until the run has ended, or send with the mode `enqueue`, `steer`, `merge` or `interrupt`.",
  }),
  SESSION_HELD: entry("The session is under a legal hold, so it cannot be erased.", [409, "format"], {
    fix: "Lift the hold first, if that is permitted.",
  }),
  SESSION_CORRUPT: entry("The log of the session is damaged, so the session is read-only.", [500, "unknown"], {
    fix: "Run `loopwright doctor`, and restore the store from a backup.",
  }),
  SESSION_TOO_NEW: entry("The log holds facts of a newer version, so it is read-only here.", [409, "format"], {
    fix: "Upgrade Loopwright.",
  }),
  SESSION_AGENT_MISMATCH: entry("The session began with another agent, or with other client tools or another prompt.", [409, "format"], {
    fix: "Open it with the agent that it began with and leave `tools` and `prompt` out, or begin a new session.",
  }),
  RUN_FENCED: entry("Another owner has taken the session over.", [409, "unknown"], { ...again, fix: "Read the session again." }),
  OUTPUT_INVALID: entry("The model's last answer does not fit the `output` of the run or of the agent.", [502, "unknown"], {
    fix: "See the message; make the schema simpler, or use a model that supports structured output.",
  }),
  CALL_UNKNOWN: entry("No such call is waiting for a result.", [404, "format"], { fix: "Answer one of the pending calls." }),
  CALL_ANSWERED: entry("The call already has another result.", [409, "format"], { fix: "Read the session: the first result counts." }),
  APPROVAL_DECIDED: entry("Another decision on the call was recorded already.", [409, "format"], {
    fix: "Read the session: the first one counts.",
  }),
  APPROVAL_MISMATCH: entry("The decision is about other arguments than those of the pending call.", [409, "format"], {
    fix: "Read the pending approval, and decide on the arguments that it shows.",
  }),
  INPUT_INVALID: entry("The input cannot be used.", [400, "format"], { fix: "See the message." }),
  CONFIG_INVALID: entry("An option is wrong.", [400, "format"], { fix: "See the message." }),
  KEY_REUSED: entry("The idempotency key was used with other content.", [422, "format"], { fix: "Use a new key for a new input." }),
  // Stores and queues.
  QUEUE_UNAVAILABLE: entry("The run queue does not answer.", [503, "network"], {
    ...again,
    fix: "Check the queue. No work is lost: workers find it by sweeps over the store.",
  }),
  STORE_UNAVAILABLE: entry("The store does not answer.", [503, "network"], {
    ...again,
    fix: "Check the store; nothing acknowledged is lost.",
  }),
  STORE_FULL: entry("The store has no space left.", [507, "unknown"], { fix: "Free some space; nothing acknowledged is lost." }),
  STORE_READ_ONLY: entry("The store cannot be written.", [503, "unknown"], { fix: "Check the permissions of the file and its folder." }),
  STORE_CORRUPT: entry("The store's file is damaged.", [500, "unknown"], {
    fix: "Restore it from a backup, or move it away to start anew.",
  }),
  STORE_TOO_NEW: entry("The store was written by a newer version.", [409, "format"], { fix: "Upgrade Loopwright." }),
  STORE_ROLLED_BACK: entry(
    "The store has an older state than before, so no session runs until a person accepts that state.",
    [503, "unknown"],
    {
      fix: "Restore the newest data, or run `loopwright doctor --accept-restored`: effects that came after that state may then happen again.",
    },
  ),
  STORE_CONFLICT: entry("Other writers changed the session too often at once.", [409, "unknown"], {
    ...again,
    fix: "Try again.",
  }),
  SECRET_UNREADABLE: entry("A stored secret cannot be decrypted.", [500, "unknown"], {
    fix: "Check the master key or the passphrase; if they are right, restore the secrets from a backup or set this one again.",
  }),
  OWN_KEY_UNUSABLE: entry("The user's own key cannot be used, so no call is made.", [422, "auth"], {
    fix: "Enter the key again in the settings, or delete the provider.",
  }),
  BLOB_NOT_FOUND: entry("A large payload of the log is missing.", [500, "unknown"], { fix: "Restore the blob store from a backup." }),
  PAYLOAD_TOO_LARGE: entry("The payload is over a limit.", [413, "format"], { fix: "Send less, or raise the named limit." }),
  // Over HTTP.
  UNAUTHENTICATED: entry("The request has no valid credentials.", [401, "auth"], {
    fix: "Send `Authorization: Bearer <token>` with a token of this server.",
  }),
  FORBIDDEN: entry("The caller may not do this.", [403, "auth"], {
    fix: "Use the credentials of another user, or leave out what the message names.",
  }),
  ORIGIN_REFUSED: entry("The request comes from a page of another origin.", [403, "auth"], {
    fix: "Open the page from the server itself, or add the origin to `origins`.",
  }),
  HOST_REFUSED: entry("The `Host` of the request is not one of this server.", [421, "auth"], {
    fix: "Use the address that the server printed, or add the name to `hosts`.",
  }),
  ROUTE_NOT_FOUND: entry("There is no such route.", [404, "format"], { fix: "See `/openapi.json` for the routes." }),
  RUN_NOT_FOUND: entry("The session has no such run.", [404, "format"], { fix: "Take a run id from the session's events." }),
  METHOD_NOT_ALLOWED: entry("The route does not take this method.", [405, "format"], { fix: "See the `Allow` header." }),
  REQUEST_TIMEOUT: entry("The body of the request did not come in time.", [408, "timeout"], {
    ...again,
    fix: "Send the request again, over a better connection.",
  }),
  MEDIA_TYPE_UNSUPPORTED: entry("The route does not take a body of this media type, or the bytes are of another one.", [415, "format"], {
    fix: "Send JSON with `Content-Type: application/json`.",
  }),
  SEARCH_UNSUPPORTED: entry("The store of these sessions has no search.", [501, "format"], {
    fix: "Find the session in the list, or keep sessions in a store that searches.",
  }),
  RATE_LIMITED: entry("This caller has sent too many requests.", [429, "rate"], { ...again, fix: "Wait for the time in `Retry-After`." }),
  CONNECTION_LIMIT: entry("Too many event streams are open.", [503, "overload"], {
    ...again,
    fix: "Close streams that are not needed, or follow several sessions over `/api/notifications`.",
  }),
  RUN_LIMIT: entry("Too many runs of this caller are open.", [429, "rate"], { ...again, fix: "Wait until one of them has ended." }),
  NOT_READY: entry("The server is starting or shutting down.", [503, "overload"], { ...again, fix: "Try again in a moment." }),
  NODE_BEHIND: entry("This node has not read the requested part of the log yet.", [503, "overload"], {
    ...again,
    fix: "Try again in a moment.",
  }),
  AGENT_NOT_FOUND: entry("This server has no agent of that name.", [404, "format"], { fix: "See `/api/agents` for the names." }),
  PROVIDER_NOT_FOUND: entry("The user has no such model provider.", [404, "format"], { fix: "See `/api/ai/providers` for the ids." }),
  MODULE_UNKNOWN: entry("This server has no module of that id.", [400, "format"], {
    fix: "Leave `activeModule` out, or register the module.",
  }),
  CURSOR_INVALID: entry("The cursor is not one of this session.", [400, "format"], {
    fix: "Send the `id:` of an event of this session, or none to begin at the start.",
  }),
  HISTORY_LOST: entry("The cursor is ahead of the log: the store has lost the newest facts.", [409, "unknown"], {
    fix: "Read the session again, and inform the operator of the store.",
  }),
  HISTORY_EXPIRED: entry("The events after the cursor are no longer kept.", [410, "format"], {
    fix: "Read the session and continue from the cursor it returns.",
  }),
  FILE_IN_USE: entry("Sessions still use the file, so it cannot be deleted.", [409, "format"], {
    fix: "Delete the sessions that name it: it is deleted with the last of them.",
  }),
  BLOB_UNKNOWN: entry("There is no such file.", [404, "format"], { fix: "Upload it with `POST /api/files`." }),
  SERVER_UNREACHABLE: entry("The server does not answer.", [503, "network"], {
    ...again,
    fix: "Check the address and that the server runs.",
  }),
  INTERNAL: entry("An invariant was broken: this is a bug.", [500, "unknown"], { fix: "Report it with the code and the run id." }),
};

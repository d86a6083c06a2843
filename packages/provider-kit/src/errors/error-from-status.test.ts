import { vendorMessageOf } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { vendorErrorOf } from "./error-body.ts";
import { errorFromStatus } from "./error-from-status.ts";

const provider = "Vendor";

describe("errorFromStatus", () => {
  it.each([
    [401, "", "MODEL_AUTH", false],
    [403, "Country not supported", "MODEL_AUTH", false],
    [402, "", "MODEL_QUOTA_EXHAUSTED", false],
    [404, "no such thing", "MODEL_NOT_FOUND", false],
    [408, "", "MODEL_TIMEOUT", true],
    [504, "", "MODEL_TIMEOUT", true],
    [409, "", "MODEL_OVERLOADED", true],
    [425, "", "MODEL_OVERLOADED", true],
    [500, "", "MODEL_OVERLOADED", true],
    [502, "", "MODEL_OVERLOADED", true],
    [503, "", "MODEL_OVERLOADED", true],
    [529, "", "MODEL_OVERLOADED", true],
    [501, "", "MODEL_UNSUPPORTED", false],
    [413, "", "CONTEXT_OVERFLOW", false],
    [429, "Slow down", "MODEL_RATE_LIMITED", true],
    [429, "You exceeded your current quota, please check your plan", "MODEL_QUOTA_EXHAUSTED", false],
    [400, "Unknown parameter", "MODEL_BAD_REQUEST", false],
    [422, "Field required", "MODEL_BAD_REQUEST", false],
    [400, "This model's maximum context length is 8192 tokens", "CONTEXT_OVERFLOW", false],
    [400, "prompt is too long: 210000 tokens > 200000 maximum", "CONTEXT_OVERFLOW", false],
    [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "CONTEXT_OVERFLOW", false],
    [400, "API key not valid. Please pass a valid API key.", "MODEL_AUTH", false],
    [400, "Your credit balance is too low to access the API.", "MODEL_QUOTA_EXHAUSTED", false],
    [400, "The response was filtered due to Azure OpenAI's content management policy.", "MODEL_REFUSED", false],
    [400, "Rate your limit of internal patience", "MODEL_BAD_REQUEST", false],
    [302, "", "MODEL_REDIRECTED", false],
  ])("takes status %i with %j for %s", (status, message, code, retryable) => {
    expect(errorFromStatus({ provider, status, message })).toMatchObject({ code, retryable });
  });

  it.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.1.content.0: Invalid signature in thinking block",
    "messages.3.content.0: Invalid `data` in `redacted_thinking` block",
    "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    "messages.129.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
    "messages.257.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    "messages.1.content.0.thinking.signature: Field required",
    "The block is bound to a different conversation.",
    "The encrypted content gAAA...DQ== could not be verified.",
    "The encrypted content for item rs_037e7e05148b could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    "Item 'rs_68a1' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_68a1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68a1'.",
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
    "Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai",
    "Corrupted thought signature.",
  ])("takes a 400 with the words %j for refused thinking", (message) => {
    for (const status of [400, undefined])
      expect(errorFromStatus({ provider, message, ...(status ? { status } : {}), type: "invalid_request_error" })).toMatchObject({
        code: "MODEL_THINKING_REFUSED",
        retryable: true,
      });
  });

  it("takes OpenAI's code and its 404 for an item of reasoning for refused thinking", () => {
    expect(errorFromStatus({ provider, status: 400, code: "invalid_encrypted_content" })).toMatchObject({ code: "MODEL_THINKING_REFUSED" });
    const message = "Item with id 'rs_68a1' not found. Items are not persisted when `store` is set to false.";
    expect(errorFromStatus({ provider, status: 404, message })).toMatchObject({ code: "MODEL_THINKING_REFUSED" });
  });

  it.each([
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
    "thinking: adaptive thinking is not supported on this model",
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
  ])("takes a wish about thinking that the vendor refuses for a bad request: %s", (message) => {
    expect(errorFromStatus({ provider, status: 400, message })).toMatchObject({ code: "MODEL_BAD_REQUEST" });
  });

  it.each([
    ["overloaded_error", "MODEL_OVERLOADED"],
    ["api_error", "MODEL_OVERLOADED"],
    ["server_error", "MODEL_OVERLOADED"],
    ["rate_limit_error", "MODEL_RATE_LIMITED"],
    ["rate_limit_exceeded", "MODEL_RATE_LIMITED"],
    ["insufficient_quota", "MODEL_QUOTA_EXHAUSTED"],
    ["authentication_error", "MODEL_AUTH"],
    ["not_found_error", "MODEL_NOT_FOUND"],
    ["invalid_request_error", "MODEL_BAD_REQUEST"],
    ["request_too_large", "CONTEXT_OVERFLOW"],
    ["timeout_error", "MODEL_TIMEOUT"],
    ["a_new_word", "MODEL_OVERLOADED"],
  ])("takes an error of type %s inside a stream for %s", (type, code) => {
    expect(errorFromStatus({ provider, type })).toMatchObject({ code });
  });

  it("takes a wait of more than a minute for a spent quota", () => {
    const headers = new Headers({ "retry-after": "61" });
    expect(errorFromStatus({ provider, status: 429, headers })).toMatchObject({ code: "MODEL_QUOTA_EXHAUSTED", retryAfterMs: 61_000 });
    headers.set("retry-after", "60");
    expect(errorFromStatus({ provider, status: 429, headers })).toMatchObject({ code: "MODEL_RATE_LIMITED", retryAfterMs: 60_000 });
  });

  it("F4: takes a sentence that names a wait of ten days for a spent quota, and one of seconds for a limit of the rate", () => {
    const of = (message: string, status?: number) =>
      errorFromStatus({ provider, message, type: "rate_limit_error", ...(status ? { status } : {}) });
    const tenDays = "You have exhausted your capacity on this model. Your quota will reset after 240h0m0s.";
    for (const status of [429, undefined])
      expect(of(tenDays, status)).toMatchObject({ code: "MODEL_QUOTA_EXHAUSTED", retryable: false, retryAfterMs: 864_000_000 });
    expect(of("Please try again in 20s.", 429)).toMatchObject({ code: "MODEL_RATE_LIMITED", retryable: true, retryAfterMs: 20_000 });
  });

  it.each<[string, number | undefined, string]>([
    ["0", 0, "MODEL_RATE_LIMITED"],
    ["1", 1_000, "MODEL_RATE_LIMITED"],
    ["-5", 0, "MODEL_RATE_LIMITED"],
    ["1000000000", 1e12, "MODEL_QUOTA_EXHAUSTED"],
    ["1e9", undefined, "MODEL_RATE_LIMITED"],
    ["Fri, 20 Nov 2026 10:00:00 GMT", 0, "MODEL_RATE_LIMITED"],
    ["soon", undefined, "MODEL_RATE_LIMITED"],
  ])("F4: reads retry-after %s of a 429 as %s ms: %s", (value, waitMs, code) => {
    const headers = new Headers({ "retry-after": value, date: "Sat, 21 Nov 2026 10:00:00 GMT" });
    expect(errorFromStatus({ provider, status: 429, headers })).toMatchObject({ code, retryAfterMs: waitMs });
  });

  it("F9: takes a 407 for a proxy that wants a password, which another try does not know either", () => {
    expect(errorFromStatus({ provider, status: 407, message: "<html>" })).toMatchObject({
      code: "MODEL_UNREACHABLE",
      retryable: false,
      message: expect.stringContaining("proxy"),
    });
  });

  it("F9: never calls a refused key or an unpaid bill retryable, even with `x-should-retry: true`", () => {
    const headers = new Headers({ "x-should-retry": "true" });
    for (const status of [401, 402, 403]) expect(errorFromStatus({ provider, status, headers }).retryable).toBe(false);
  });

  it("lets x-should-retry win", () => {
    const error = (value: string, status: number) =>
      errorFromStatus({ provider, status, headers: new Headers({ "x-should-retry": value }) });
    expect(error("false", 503).retryable).toBe(false);
    expect(error("true", 400).retryable).toBe(true);
  });

  it("keeps the vendor's own sentence, without a key in it, for the operator, and speaks to callers in its own words", () => {
    const key = "my own secret of no known form";
    const message = `Incorrect API key provided: ${key}, sk-abcdefghijklmnop, AIzaSyA-12345678901234, test*****4242; Bearer abc.def; see https://x.test/?key=zzz&b=1`;
    const error = errorFromStatus({ provider, status: 401, message, secrets: [key] });
    expect(error.message).toBe("Vendor answered with status 401: the vendor refused the key");
    expect(vendorMessageOf(error)).toBe(
      "Incorrect API key provided: [removed], [removed], [removed], [removed] [removed]; see https://x.test/?key=[removed]&b=1",
    );
  });

  it("cuts a long sentence to 500 characters", () => {
    const error = errorFromStatus({ provider, status: 500, message: "x y ".repeat(100_000) });
    expect(vendorMessageOf(error)?.length).toBe(500);
    expect(vendorMessageOf(error)?.endsWith("…")).toBe(true);
  });

  it("names the vendor's id of the request, wherever it stands", () => {
    for (const name of ["request-id", "x-request-id"]) {
      const error = errorFromStatus({ provider, status: 500, headers: new Headers({ [name]: "req_011CUdL49" }) });
      expect(error.message).toBe("Vendor answered with status 500: the vendor is overloaded or failing (request req_011CUdL49)");
      expect(error.details).toMatchObject({ requestId: "req_011CUdL49" });
    }
    const written = vendorErrorOf({ type: "error", error: { type: "api_error", message: "m" }, request_id: "req_7" });
    expect(errorFromStatus({ provider, ...written }).details).toEqual({ type: "api_error", requestId: "req_7" });
  });

  it.each<[string, string]>([
    ["OpenAI's", '{"error":{"message":"PROMPT","type":"PROMPT","code":"PROMPT"}}'],
    ["Anthropic's", '{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: PROMPT"},"request_id":"PROMPT"}'],
    ["Gemini's", '[{"error":{"code":400,"message":"Invalid value: PROMPT","status":"PROMPT"}}]'],
    ["Ollama's", '{"error":"PROMPT"}'],
    ["FastAPI's", '{"detail":[{"msg":"PROMPT","input":"PROMPT"}]}'],
    ["a page", "<html><title>PROMPT</title></html>"],
    ["plain text", "PROMPT"],
  ])("no part of an error shows a prompt that a body of %s form repeats", (_, body) => {
    const prompt = "You are a secret agent; the safe opens with 4711.";
    const error = errorFromStatus({ provider, status: 400, ...vendorErrorOf(body.replaceAll("PROMPT", prompt)) });
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack, cause: error.cause })).not.toContain("secret agent");
    expect(vendorMessageOf(error)).toContain("secret agent");
  });

  it.each([
    ["as it is", (key: string) => key],
    ["as in an address", (key: string) => encodeURIComponent(key)],
    ["in base64", (key: string) => btoa(key)],
    ["in base64 behind one character", (key: string) => btoa(`u${key}`)],
    ["in base64 behind a name", (key: string) => btoa(`user:${key}`)],
    ["in base64 between two names", (key: string) => btoa(`me:${key}:you`)],
    ["in base64 of addresses", (key: string) => btoa(key).replaceAll("+", "-").replaceAll("/", "_")],
  ])("a key %s is in nothing that the operator reads", (_, spell) => {
    const key = "kéy/with?odd+chars~and>more".replace("é", "e");
    const spelt = spell(key);
    const error = errorFromStatus({ provider, status: 401, message: `The key ${spelt} is wrong.`, code: spelt, secrets: [key] });
    const middle = spelt.slice(8, -8);
    expect(vendorMessageOf(error)).not.toContain(middle);
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain(middle);
  });
});

describe("vendorErrorOf", () => {
  it.each<[unknown, ReturnType<typeof vendorErrorOf>]>([
    [{ error: { message: "m", type: "t", code: "c" } }, { message: "m", type: "t", code: "c" }],
    [{ error: "m" }, { message: "m" }],
    [
      { message: "m", type: "t" },
      { message: "m", type: "t" },
    ],
    [{ detail: [{ msg: "a" }, { msg: "b" }] }, { message: "a; b" }],
    [{ detail: "m" }, { message: "m" }],
    [[{ error: { message: "m", status: "UNAVAILABLE", code: 503 } }], { message: "m", type: "UNAVAILABLE", status: 503 }],
    [{ error: { message: "m", code: "503" } }, { message: "m", code: "503", status: 503 }],
    ['{"error":{"message":"m"}}', { message: "m" }],
    ["<html><head><title>502 Bad Gateway</title></head></html>", { message: "502 Bad Gateway" }],
    ["{broken", { message: "{broken" }],
    ["", {}],
    [null, {}],
    [42, {}],
    [[], {}],
  ])("finds in %j %j", (body, expected) => {
    expect(vendorErrorOf(body)).toEqual(expected);
  });
});

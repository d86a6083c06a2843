/** The parts of a vendor's error, from whichever place the vendor puts them. */
export interface VendorError {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  /** The vendor's id of the request, where the body names it. */
  readonly requestId?: string;
  /** An HTTP status named inside the body, as Gemini and several proxies do. */
  readonly status?: number;
}

/**
 * Finds message, type and code in the body of a failed call, parsed or as text: `{error: {message, type, code, status}}`,
 * `{error: "text"}`, `{message}`, `{detail}`, `[{error}]`, a page of HTML (its title), plain text.
 */
export function vendorErrorOf(body: unknown): VendorError {
  if (typeof body === "string") return vendorErrorOfText(body);
  if (Array.isArray(body)) return body.length > 0 ? vendorErrorOf(body[0]) : {};
  if (!isRecord(body)) return {};
  const inner = body["error"] ?? body["errors"];
  if (Array.isArray(inner)) return vendorErrorOf(inner);
  const source = isRecord(inner) ? inner : body;
  const message =
    textOf(source["message"]) ?? textOf(inner) ?? textOf(body["message"]) ?? textOf(source["detail"]) ?? detailOf(source["detail"]);
  const type = textOf(source["type"]) ?? textOf(source["status"]);
  const code = textOf(source["code"]);
  const status = statusOf(source["code"]) ?? statusOf(source["status"]) ?? statusOf(body["status_code"]) ?? statusOf(body["code"]);
  const requestId = textOf(body["request_id"]) ?? textOf(source["request_id"]);
  return {
    ...(message === undefined ? {} : { message }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
  };
}

function vendorErrorOfText(text: string): VendorError {
  const trimmed = text.trim();
  if (trimmed.startsWith("{") || trimmed.startsWith("[")) {
    try {
      return vendorErrorOf(JSON.parse(trimmed));
    } catch {
      // Not JSON after all: the text itself is the message.
    }
  }
  const title = /<title>([^<]{1,200})<\/title>/i.exec(trimmed.slice(0, 5_000))?.[1];
  if (title !== undefined) return { message: title };
  return trimmed === "" ? {} : { message: trimmed.slice(0, 5_000) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** FastAPI servers list what was wrong with the request. */
function detailOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const messages = value.map((item) => (isRecord(item) ? textOf(item["msg"]) : undefined)).filter((text) => text !== undefined);
  return messages.length > 0 ? messages.join("; ") : undefined;
}

function statusOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 400 && number <= 599 ? number : undefined;
}

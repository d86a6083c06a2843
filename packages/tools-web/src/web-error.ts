import { AgentError, type ErrorCode } from "@loopwright/core";
import { shownUrl, type UrlRefusal } from "@loopwright/url-guard";

/** Why a page was not fetched. It stands in the message and in `details.reason`. */
export type WebFailureReason =
  | UrlRefusal
  | "unknown_url"
  | "too_many_redirects"
  | "timed_out"
  | "connection_failed"
  | "bad_status"
  | "type_not_supported"
  | "encoding_not_supported";

interface Entry {
  readonly code: ErrorCode;
  readonly fix: string;
  readonly retryable?: boolean;
}

const refused = (fix: string): Entry => ({ code: "TOOL_ARGUMENTS", fix });
const failed = (fix: string, retryable = false): Entry => ({ code: "TOOL_FAILED", fix, retryable });

const entries: Readonly<Record<WebFailureReason, Entry>> = {
  invalid_url: refused("Use a complete URL such as https://example.com/page."),
  scheme_not_allowed: refused("Use a URL with http or https."),
  credentials_in_url: refused("Leave the user name and the password out."),
  port_not_allowed: refused("Use a page on the usual port of http or https."),
  host_not_allowed: refused("Use a page of another host."),
  blocked_address: refused("Use a page of the public web."),
  unknown_url: refused("Use a URL that the user gave or that a search or a page showed, without any change."),
  host_not_found: failed("Check the name of the host."),
  too_many_redirects: failed("Use another page."),
  timed_out: failed("Try another page, or this one later.", true),
  connection_failed: failed("Try another page, or this one later.", true),
  bad_status: failed("Use another page."),
  type_not_supported: failed("Use a page with HTML or plain text."),
  encoding_not_supported: failed("Use another page."),
};

/** The error of a page that was not fetched: `what` continues the sentence that begins with the URL. */
export function webError(
  reason: WebFailureReason,
  url: URL | string,
  written: { readonly what: string; readonly cause?: unknown },
): AgentError {
  const { code, fix, retryable } = entries[reason];
  const { what, cause } = written;
  return new AgentError(code, { message: `${shownUrl(url)} ${what} (${reason}).`, fix, retryable, details: { reason }, cause });
}

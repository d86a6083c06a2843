import { AgentError } from "@loopwright/core";

/** Why a URL may not be reached. It stands in the message and in `details.reason`. */
export type UrlRefusal =
  | "invalid_url"
  | "scheme_not_allowed"
  | "credentials_in_url"
  | "port_not_allowed"
  | "host_not_allowed"
  | "blocked_address"
  | "host_not_found";

/** Makes the error of a refused URL: `what` continues the sentence that begins with the URL. */
export type RefuseUrl = (reason: UrlRefusal, url: URL | string, written: { readonly what: string; readonly cause?: unknown }) => AgentError;

const fixes: Readonly<Record<UrlRefusal, string>> = {
  invalid_url: "Use a complete URL such as https://example.com/v1.",
  scheme_not_allowed: "Use a URL with http or https.",
  credentials_in_url: "Leave the user name and the password out.",
  port_not_allowed: "Use the usual port of http or https, or let the operator allow this one.",
  host_not_allowed: "Use a host that the operator allows.",
  blocked_address: "Use a host of the public web.",
  host_not_found: "Check the name of the host.",
};

/** An error for callers: INPUT_INVALID. */
export const refusedUrl: RefuseUrl = (reason, url, { what, cause }) =>
  new AgentError("INPUT_INVALID", { message: `${shownUrl(url)} ${what} (${reason}).`, fix: fixes[reason], details: { reason }, cause });

/** The URL as an error may show it: without user, password, query and fragment, at most 200 characters. */
export function shownUrl(url: URL | string): string {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (!parsed) return "The URL";
  const text = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text);
}

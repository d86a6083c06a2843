/*
 * Owns: how a model of a fallback chain is written: in a variable, in a flag, and in `loopwright.yaml`.
 * Does not own: which models make the chain (settings/fallbacks).
 */
import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import { withoutSecret } from "./store-place.ts";
import { type Vendor, type VendorName, vendorNamed, vendors } from "./vendors.ts";

/** A model that is called where the ones before it fail. */
export interface FallbackModel {
  readonly provider: VendorName;
  /** Absent: the vendor's default. */
  readonly model?: string;
  /** In place of that of the first model; for OpenAI alone. */
  readonly organizationId?: string;
  /** Another address of the vendor's API. */
  readonly baseUrl?: string;
}

/** Models of one chain at most. */
const fallbacksMax = 10;
/** What of an entry stands behind its `?`, by its name there and in the file. */
const further = { organization_id: "organizationId", base_url: "baseUrl" } as const;
type Further = keyof typeof further;
const furtherNames = Object.keys(further) as Further[];

/** Entries as text, each checked; `none` or `false`: there is none. @throws AgentError CONFIG_INVALID, with the entry */
export function readFallbacks(text: string, source: string): readonly string[] {
  if (["none", "false", "no", "off", "0"].includes(text.trim().toLowerCase())) return [];
  return checkedCount(
    text.split(",").map((entry) => writtenFallback(parseFallback(entry, source))),
    source,
  );
}

/** The same from YAML: `false`, such a text, or a list of such texts and of groups such as `{ provider: anthropic, name: claude }`. @throws AgentError CONFIG_INVALID */
export function fallbacksOfFile(value: unknown, source: string): readonly string[] {
  if (value === false) return [];
  if (typeof value === "string") return readFallbacks(value, source);
  if (!Array.isArray(value)) throw noList(source);
  return checkedCount(
    value.map((entry: unknown, at) => {
      const place = `Entry ${at + 1} of ${source}`;
      if (typeof entry === "string") return writtenFallback(parseFallback(entry, source));
      if (typeof entry !== "object" || entry === null || Array.isArray(entry)) throw noList(place);
      return writtenFallback(ofGroup(entry as Readonly<Record<string, unknown>>, place));
    }),
    source,
  );
}

/** The entry that was written as this text. @throws AgentError CONFIG_INVALID for a text that is none, with the text */
export function parseFallback(text: string, source: string): FallbackModel {
  const [named = "", ...query] = text.trim().split("?");
  const colon = named.indexOf(":");
  const model = colon < 0 ? undefined : named.slice(colon + 1).trim();
  const shown = `${source} has the entry \`${oneLine(withoutAddress(text), 80)}\`, `;
  if (model === "") throw wrong(`${shown}which names no model behind its colon.`);
  const given: { [name: string]: string } = { provider: colon < 0 ? named.trim() : named.slice(0, colon).trim() };
  if (model !== undefined) given["name"] = model;
  for (const [name, value] of new URLSearchParams(query.join("?"))) {
    if (!furtherNames.some((known) => known === name))
      throw wrong(`${shown}and there is nothing \`${oneLine(name, 40)}\` behind a question mark.`);
    given[name] = value;
  }
  return checkedEntry(given, shown);
}

/** The entry as text, which `parseFallback` reads. */
function writtenFallback({ provider, model, ...more }: FallbackModel): string {
  const query = new URLSearchParams();
  for (const name of furtherNames) {
    const value = more[further[name]];
    if (value !== undefined) query.set(name, value);
  }
  return `${provider}${model === undefined ? "" : `:${model}`}${query.size === 0 ? "" : `?${query.toString()}`}`;
}

/** An entry for people: its address without user, password and query. */
export function shownFallback(text: string): string {
  const { baseUrl, ...entry } = parseFallback(text, "");
  return writtenFallback({ ...entry, ...(baseUrl === undefined ? {} : { baseUrl: withoutSecret(baseUrl) }) });
}

const withoutAddress = (text: string): string => text.trim().split("?")[0] ?? "";

function ofGroup(group: Readonly<Record<string, unknown>>, place: string): FallbackModel {
  refuseUnknownOptions(group, { provider: true, name: true, organization_id: true, base_url: true }, place);
  const given = Object.entries(group).filter(([, value]) => value !== undefined && value !== null);
  const [name] = given.find(([, value]) => typeof value !== "string" || value.trim() === "") ?? [];
  if (name !== undefined) throw wrong(`${place} has a \`${name}\` that is no text.`);
  return checkedEntry(Object.fromEntries(given) as Readonly<Record<string, string>>, `${place} is wrong: `);
}

function checkedEntry({ provider, name, organization_id, base_url }: { readonly [name: string]: string }, shown: string): FallbackModel {
  const vendor = vendorFor(provider ?? "", shown);
  if (base_url !== undefined && !(/^https?:\/\//i.test(base_url) && URL.canParse(base_url)))
    throw wrong(`${shown}whose \`base_url\` is no http or https address.`);
  if ((vendor.name === "custom" && base_url === undefined) || ((vendor.name === "custom" || base_url !== undefined) && name === undefined))
    throw wrong(`${shown}which needs ${vendor.name === "custom" ? "a `base_url` and a model" : "a model at that address"}.`);
  if (organization_id !== undefined && vendor.name !== "openai") throw wrong(`${shown}and organisations are those of OpenAI.`);
  return {
    provider: vendor.name,
    ...(name === undefined ? {} : { model: name }),
    ...(organization_id === undefined ? {} : { organizationId: organization_id }),
    ...(base_url === undefined ? {} : { baseUrl: base_url }),
  };
}

/** The vendor of an entry. @throws AgentError CONFIG_INVALID for a name that is none, or that no fallback may have */
function vendorFor(provider: string, shown: string): Vendor {
  const vendor = vendorNamed(provider);
  if (!vendor) throw wrong(`${shown}and there is no provider \`${oneLine(provider, 40)}\`.`);
  if (vendor.name !== "offline" && !vendor.isExecutor) return vendor;
  throw wrong(`${shown}and ${vendor.isExecutor ? "an executor" : "the offline demonstration model"} answers for no other one.`);
}

function checkedCount(entries: readonly string[], source: string): readonly string[] {
  if (entries.length > fallbacksMax) throw wrong(`${source} has ${entries.length} models, and at most ${fallbacksMax} are taken.`);
  return entries;
}

const noList = (place: string): AgentError => wrong(`${place} is no list of models.`);

const names = vendors.flatMap(({ name, isExecutor }) => (name === "offline" || isExecutor ? [] : [name])).join(", ");
const wrong = (message: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message,
    fix: `Write \`provider:model\`, or the provider alone for its default model, of: ${names}; or \`none\`.`,
  });

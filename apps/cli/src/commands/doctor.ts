import { isAgentError } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { complaintOf } from "../complaint.ts";
import { createProvider, ollamaServer } from "../compose/create-provider.ts";
import { type OpenedMcp, openMcp } from "../compose/mcp/open-mcp.ts";
import { withoutSecret } from "../config/store-place.ts";
import { type Vendor, vendors } from "../config/vendors.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsWithSurvey, styleFor } from "../flags.ts";
import { refuseReuse } from "../secrets/secret-categories.ts";
import type { SecretFileReport } from "../secrets/survey-secrets.ts";
import type { Settings } from "../settings/settings.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { padTo } from "../terminal/lines.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { checkLinks } from "./check-links.ts";
import { checkStore } from "./check-store.ts";
import type { Finding } from "./finding.ts";

interface DoctorFlags extends SharedFlags {
  readonly online?: boolean;
  readonly acceptRestored?: boolean;
  readonly json?: boolean;
}

const onlineMs = 30_000;
/** How long a server of the user's own may take to answer at all. */
const answerMs = 3_000;
/** How long an MCP server may take to list its tools. */
const listMs = 20_000;

/** Looks at Node.js, the store, channel and queue, files of secrets, MCP servers, the keys, the models and servers of the user's own; 1 when something is broken. Values of keys are never shown. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  const { settings, reports } = await settingsWithSurvey(flags);
  const findings: Finding[] = [
    nodeFinding(),
    await checkStore(settings, { acceptsRestored: flags.acceptRestored ?? false }),
    ...(await checkLinks(settings)),
    ...secretFindings(reports, settings),
    ...(await mcpFindings(settings)),
    ...(await vendorFindings(settings)),
    await choiceFinding(settings),
    ...(await fallbackFindings(settings)),
  ];
  if (flags.online) findings.push(await onlineFinding(settings));
  if (flags.json) process.stdout.write(`${jsonLine({ findings })}\n`);
  else print(findings, flags);
  return findings.some((finding) => finding.state === "bad") ? exitCodes.failed : exitCodes.ok;
}

function print(findings: readonly Finding[], flags: DoctorFlags): void {
  const style = styleFor(process.stdout, flags);
  const marks = { ok: style.green("ok   "), note: style.dim("-    "), bad: style.red("BAD  ") };
  const width = Math.max(...findings.map(({ what }) => what.length)) + 2;
  for (const { what, state, text } of findings) {
    const [first = "", ...rest] = text.split("\n");
    process.stdout.write(`${marks[state]}${padTo(what, width)}${first}\n`);
    for (const line of rest) process.stdout.write(`${" ".repeat(5 + width)}${line}\n`);
  }
}

function nodeFinding(): Finding {
  return { what: "Node.js", state: "ok", text: `${process.versions.node}, SQLite ${process.versions["sqlite"] ?? "unknown"}` };
}

const stateOf = { open: "ok", closed: "note", unreadable: "bad" } as const;

/** Each file of secrets, and one value in secrets of different services, with which nothing starts. */
function secretFindings(reports: readonly SecretFileReport[], { environment }: Settings): readonly Finding[] {
  const files = reports.map(
    ({ place, state, text }): Finding => ({
      what: `${place.kind} secrets`,
      state: stateOf[state],
      text: `${oneLine(place.path, 200)} ${text}`,
    }),
  );
  try {
    refuseReuse(environment);
    return files;
  } catch (error) {
    return [...files, { what: "keys", state: "bad", text: complaintOf(error).join("\n") }];
  }
}

/** What each MCP server of the settings offers now. */
async function mcpFindings(settings: Settings): Promise<readonly Finding[]> {
  let mcp: OpenedMcp | undefined;
  try {
    mcp = await openMcp(settings);
    const surveys = (await mcp?.survey(AbortSignal.timeout(listMs))) ?? [];
    return surveys.map(({ server, tools, error }): Finding => {
      const what = `mcp ${server}`;
      if (error) return { what, state: "bad", text: complaintOf(error).join("\n") };
      const names = tools.map(({ original }) => original).join(", ");
      return { what, state: "ok", text: tools.length === 0 ? "no tools" : oneLine(names, 200) };
    });
  } catch (error) {
    return [{ what: "mcp", state: "bad", text: complaintOf(error).join("\n") }];
  } finally {
    await mcp?.close();
  }
}

async function vendorFindings(settings: Settings): Promise<readonly Finding[]> {
  return Promise.all(
    vendors.filter((vendor) => vendor.name !== "custom" && !vendor.isExecutor).map((vendor) => vendorFinding(vendor, settings)),
  );
}

async function vendorFinding(vendor: Vendor, settings: Settings): Promise<Finding> {
  try {
    const provider = await probeOf(vendor, settings);
    const set = [...vendor.keys, ...vendor.signs].filter((name) => settings.environment[name]);
    const server = vendor.name === "ollama" ? await ollamaServer(settings.environment) : undefined;
    const isAway = server !== undefined && !(await answers(server));
    const isReady = !isAway && (vendor.keys.length === 0 || set.length > 0);
    const isSet = set.length > 0 ? `${set.join(", ")} set` : vendor.note || `${vendor.keys.join(" or ")} not set`;
    const key = isAway ? `${isSet} · no server answers at ${withoutSecret(server)}` : isSet;
    return { what: vendor.name, state: isReady ? "ok" : "note", text: `default model ${provider.defaultModel} · ${key}` };
  } catch (error) {
    return { what: vendor.name, state: "note", text: complaintOf(error).join("\n") };
  }
}

/** The provider with a stand-in key: only its data is looked at. */
function probeOf(vendor: Vendor, settings: Settings): Promise<ModelProvider> {
  const environment = { ...settings.environment, ...Object.fromEntries(vendor.keys.map((name) => [name, "unused"])) };
  return createProvider({ ...settings, vendor, model: undefined, baseUrl: undefined, environment });
}

async function choiceFinding(settings: Settings): Promise<Finding> {
  try {
    const provider = await createProvider(settings);
    const address = await ownAddress(settings);
    if (address !== undefined && !(await answers(address)))
      return { what: "chosen", state: "bad", text: `${provider.name}: no server answers at ${withoutSecret(address)}` };
    const why = settings.because.startsWith("no key") ? settings.because : `by ${settings.because}`;
    return { what: "chosen", state: "ok", text: `${provider.name} ${settings.model ?? provider.defaultModel} (${why})` };
  } catch (error) {
    return { what: "chosen", state: "bad", text: complaintOf(error).join("\n") };
  }
}

/** What is called where the chosen model fails, in its order. */
function fallbackFindings({ fallbacks, environment }: Settings): Promise<readonly Finding[]> {
  return Promise.all(
    fallbacks.map(async (fallback): Promise<Finding> => {
      try {
        const provider = await createProvider({ ...fallback, environment });
        return { what: "fallback", state: "ok", text: `${provider.name} ${provider.defaultModel} (by ${fallback.because})` };
      } catch (error) {
        return { what: "fallback", state: "bad", text: complaintOf(error).join("\n") };
      }
    }),
  );
}

/** The address of a server of the user's own, where one is chosen. */
async function ownAddress({ vendor, baseUrl, environment }: Settings): Promise<string | undefined> {
  return baseUrl ?? (vendor.name === "ollama" ? ollamaServer(environment) : undefined);
}

/** Whether a server there speaks HTTP; its status does not matter, since the request has no key. */
export async function answers(address: string): Promise<boolean> {
  try {
    const url = new URL(address);
    const { username, password } = url;
    // `fetch` refuses addresses with a name and a password.
    url.username = "";
    url.password = "";
    const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
    const headers = username === "" && password === "" ? {} : { Authorization: `Basic ${basic}` };
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(answerMs) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

async function onlineFinding(settings: Settings): Promise<Finding> {
  const began = Date.now();
  const signal = AbortSignal.timeout(onlineMs);
  try {
    const provider = await createProvider(settings);
    const messages = [{ role: "user", content: "Answer with the word ok." }] as const;
    for await (const _ of provider.stream(
      { model: settings.model ?? provider.defaultModel, messages, maxTokens: 256 },
      { signal, attempt: 1 },
    ));
    return { what: "online", state: "ok", text: `${provider.name} answered after ${Date.now() - began} ms` };
  } catch (error) {
    const lines = isAgentError(error) || !signal.aborted ? complaintOf(error) : [`No answer within ${onlineMs / 1000} s.`];
    return { what: "online", state: "bad", text: lines.join("\n") };
  }
}

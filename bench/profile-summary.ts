import type { Profiler } from "node:inspector";

export interface Share {
  readonly name: string;
  /** Of the busy time, 0 to 1. */
  readonly share: number;
}

/** Where the busy time of a profile went: self time. */
export interface ProfileSummary {
  readonly busyMs: number;
  readonly packages: readonly Share[];
  readonly functions: readonly Share[];
}

const functionsShown = 60;
const idle = new Set(["(idle)", "(root)"]);
type Frame = Profiler.ProfileNode["callFrame"];

/** The package that a script belongs to. */
function packageOf(url: string): string {
  const ours = /\/packages\/([^/]+)\//.exec(url)?.[1];
  if (ours !== undefined) return `@loopwright/${ours}`;
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (installed !== undefined) return installed;
  if (url.includes("undici")) return "Node.js: fetch";
  if (/webstreams|streams/.test(url)) return "Node.js: streams";
  if (/http|net|stream_base|tls/.test(url)) return "Node.js: net and http";
  return url.startsWith("node:") ? "Node.js: the rest" : "bench";
}

/** Native code counts for its caller. */
function owners({ nodes }: Profiler.Profile): ReadonlyMap<number, string> {
  const owned = new Map<number, string>();
  const children = new Map(nodes.map((node) => [node.id, node]));
  const visit = (id: number, caller: string): void => {
    const node = children.get(id);
    if (!node) return;
    const { functionName, url } = node.callFrame;
    const owner = url !== "" ? packageOf(url) : functionName.startsWith("(") ? functionName.slice(1, -1) : caller;
    owned.set(id, owner);
    for (const child of node.children ?? []) visit(child, owner);
  };
  const root = nodes[0];
  if (root) visit(root.id, "Node.js: the rest");
  return owned;
}

const isOwn = ({ url, functionName }: Frame): boolean => url.startsWith("node:inspector") || idle.has(functionName);

function ranked(times: ReadonlyMap<string, number>, total: number): readonly Share[] {
  return [...times].map(([name, time]) => ({ name, share: time / total })).sort((a, b) => b.share - a.share);
}

/** Self time by package and by function; idle time and the profiler's own are left out. */
export function summariseProfile(profile: Profiler.Profile): ProfileSummary {
  const { nodes, samples = [], timeDeltas = [] } = profile;
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const ownerOf = owners(profile);
  const packages = new Map<string, number>();
  const functions = new Map<string, number>();
  let busyUs = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    const us = timeDeltas[index] ?? 0;
    if (!frame || isOwn(frame)) return;
    busyUs += us;
    const owner = ownerOf.get(id) ?? "unknown";
    packages.set(owner, (packages.get(owner) ?? 0) + us);
    const name = `${frame.functionName || "(anonymous)"} · ${owner}`;
    functions.set(name, (functions.get(name) ?? 0) + us);
  });
  return { busyMs: busyUs / 1000, packages: ranked(packages, busyUs), functions: ranked(functions, busyUs).slice(0, functionsShown) };
}

/** Several profiles of the same work as one. */
export function mergeProfiles(summaries: readonly ProfileSummary[]): ProfileSummary {
  const busyMs = summaries.reduce((sum, summary) => sum + summary.busyMs, 0);
  const merged = (sharesOf: (summary: ProfileSummary) => readonly Share[]): readonly Share[] => {
    const times = new Map<string, number>();
    for (const summary of summaries)
      for (const { name, share } of sharesOf(summary)) times.set(name, (times.get(name) ?? 0) + share * summary.busyMs);
    return ranked(times, busyMs);
  };
  return { busyMs, packages: merged(({ packages }) => packages), functions: merged(({ functions }) => functions) };
}

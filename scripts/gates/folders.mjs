// How the folders of a package or an app stand to one another: no cycle between them, and none with too many files.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJson } from "./tree.mjs";

/** Cycles and wide folders that stand for now. An entry that is not needed any more is a problem, so the list can only shrink. */
export const EXCEPTIONS = "scripts/gates/folder-exceptions.json";

const FILES_MAX = 25;

/**
 * One graph for each folder: what stands directly in it, each subfolder (marked with a slash at its end) with everything below it as one node. A file
 * beside the subfolders is a node of its own, so an `index.ts` above and an `errors.ts` below all folders are no cycle. Imports of types count.
 */
function graphsOf(modules, files) {
  const own = new Set(files);
  const graphs = new Map();
  for (const { source, dependencies } of modules) {
    if (!own.has(source)) continue;
    for (const { resolved } of dependencies) {
      if (!own.has(resolved) || resolved === source) continue;
      const [from, to] = [source.split("/"), resolved.split("/")];
      if (from[1] !== to[1]) continue;
      const depth = from.findIndex((name, index) => name !== to[index]);
      const folder = from.slice(0, depth).join("/");
      const node = (parts) => (depth < parts.length - 1 ? `${parts[depth]}/` : parts[depth]);
      const graph = graphs.get(folder) ?? new Map();
      graphs.set(folder, graph);
      const next = graph.get(node(from)) ?? new Map();
      graph.set(node(from), next);
      if (!next.has(node(to))) next.set(node(to), `${source} imports ${resolved}`);
    }
  }
  return graphs;
}

/** The shortest way along the graph from `start` to `end`, both included. */
function wayFrom(graph, start, end) {
  const ways = [[start]];
  const seen = new Set([start]);
  for (const way of ways)
    for (const next of graph.get(way.at(-1))?.keys() ?? []) {
      if (next === end) return [...way, next];
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  return undefined;
}

/** One shortest cycle through each node that is a folder and has one, each once. */
function cyclesOf(graph) {
  const found = new Map();
  for (const node of [...graph.keys()].sort()) {
    const way = node.endsWith("/") && wayFrom(graph, node, node);
    const name = way && way.slice(1).sort().join();
    if (way && !found.has(name)) found.set(name, way);
  }
  return [...found.values()];
}

const without = (graph, edges) =>
  new Map([...graph].map(([from, next]) => [from, new Map([...next].filter(([to]) => !edges.has(`${from} > ${to}`)))]));

/** `modules` as dependency-cruiser gives them, `files` the sources that are held to this. */
export function folderCycles(root, modules, files) {
  const { cycles: excepted = {} } = exceptionsOf(root);
  const graphs = graphsOf(modules, files);
  const problems = [];
  for (const [folder, graph] of graphs) {
    const allowed = new Set(excepted[folder] ?? []);
    for (const way of cyclesOf(without(graph, allowed))) {
      const imports = way.slice(1).map((to, index) => graph.get(way[index]).get(to));
      problems.push(`${folder}: its folders are in a cycle: ${way.join(" > ")} (${imports.join("; ")})`);
    }
    for (const edge of allowed) {
      const [from, to] = edge.split(" > ");
      const stands = graph.get(from)?.has(to) && wayFrom(without(graph, new Set([...allowed].filter((other) => other !== edge))), to, from);
      if (!stands) problems.push(unneeded(`${folder}: ${edge}`));
    }
  }
  for (const folder of Object.keys(excepted)) if (!graphs.has(folder)) problems.push(unneeded(folder));
  return problems;
}

/** Sources only: a test stands beside its file and is found through it, so it makes no folder harder to read. */
export function wideFolders(root, files) {
  const { wide = {} } = exceptionsOf(root);
  const counts = new Map();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  const problems = [];
  for (const [folder, count] of counts) {
    const most = wide[folder] ?? FILES_MAX;
    if (count > most) problems.push(`${folder}: ${count} files beside one another, at most ${most}: sort them into folders`);
  }
  for (const [folder, most] of Object.entries(wide)) {
    const count = counts.get(folder) ?? 0;
    if (count <= FILES_MAX) problems.push(unneeded(folder));
    else if (count < most) problems.push(`${EXCEPTIONS}: ${folder} has ${count} files, fewer than ${most}: lower it`);
  }
  return problems;
}

const exceptionsOf = (root) => (existsSync(join(root, EXCEPTIONS)) ? readJson(join(root, EXCEPTIONS)) : {});
const unneeded = (what) => `${EXCEPTIONS}: ${what} is not needed any more: take it out`;

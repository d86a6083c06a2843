/*
 * Records which functions of this workspace a piece of work enters, in order: sources are instrumented as they are loaded, and a call counts only in
 * the asynchronous context of the work. So neither time nor what else the process does has a part in the result.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** A function that was entered, and the one that called it. */
export interface Entered {
  /** `server/http/check-host.ts checkHost`. */
  readonly id: string;
  readonly by: Entered | undefined;
}

interface Work {
  readonly entered: Entered[];
  readonly by: Entered | undefined;
}

const work = new AsyncLocalStorage<Work>();

declare global {
  var enterFunction: <T>(id: string, run: () => T) => T;
}

globalThis.enterFunction = (id, run) => {
  const within = work.getStore();
  if (!within) return run();
  const own: Entered = { id, by: within.by };
  within.entered.push(own);
  return work.run({ entered: within.entered, by: own }, run);
};

/** Adapters are beyond a port: what is inside them is not the way of a request. */
const traced = /\/packages\/((?:core|host|server)\/src\/.*)\.ts$/;
const untraced = /\/packages\/core\/src\/memory\//;

/** Traces modules that are loaded from now on. */
export function traceModules(): void {
  registerHooks({
    load(url, context, next) {
      const file = traced.exec(url)?.[1];
      if (file === undefined || untraced.test(url)) return next(url, context);
      return { format: "module-typescript", source: instrumented(file, readFileSync(fileURLToPath(url), "utf8")), shortCircuit: true };
    },
  });
}

/** The functions that the work enters until it settles, in order. */
export async function traceOf<T>(run: () => Promise<T>): Promise<{ readonly entered: readonly Entered[]; readonly value: T }> {
  const entered: Entered[] = [];
  const value = await work.run({ entered, by: undefined }, run);
  return { entered: [...entered], value };
}

function instrumented(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    const name = nameOf(node);
    const body = name !== undefined && "body" in node ? (node.body as ts.Node | undefined) : undefined;
    if (body) {
      const id = JSON.stringify(`${file.replace("/src/", "/")}.ts ${name}`);
      const isAsync = ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
      const before = `globalThis.enterFunction(${id}, ${isAsync ? "async " : ""}() => `;
      const at = { start: body.getStart(source), end: body.getEnd() };
      if (ts.isConstructorDeclaration(node)) inserts.push({ at: at.start + 1, text: ` globalThis.enterFunction(${id}, () => {});` });
      else if (ts.isBlock(body)) inserts.push({ at: at.start, text: `{ return ${before}` }, { at: at.end, text: "); }" });
      else inserts.push({ at: at.start, text: `${before}(` }, { at: at.end, text: "))" });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return inserts.sort((a, b) => b.at - a.at).reduce((whole, { at, text: piece }) => whole.slice(0, at) + piece + whole.slice(at), text);
}

/** What a reader would look for; a function without a name is a part of the one around it. */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return `new ${node.parent.name?.text ?? ""}`;
  if ("asteriskToken" in node && node.asteriskToken) return undefined;
  if (ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node)) return node.name?.getText();
  if (ts.isGetAccessor(node)) return undefined;
  if (!ts.isArrowFunction(node)) return undefined;
  const { parent } = node;
  const holds = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return holds && parent.initializer === node ? parent.name.getText() : undefined;
}
